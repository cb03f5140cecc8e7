// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "laconic/core/text.hpp"

/// The errors that come from outside the program's own logic, one type each; all derive from laconic::error. Each holds
/// the place as data besides the text, so that a caller can act on it.
namespace laconic {

/// The base of every exception that the library throws on purpose.
struct error : std::runtime_error {
    using std::runtime_error::runtime_error;
    error(detail::text_pieces why) : std::runtime_error(detail::concat(why)) {}
};

/// An argument is outside its range: k above the dimension, zero workers, a step size of zero.
struct argument_error : error {
    using error::error;
};

/// The theory gives no constant or step size for this composition.
struct theory_error : error {
    using error::error;
};

/// Two lengths that should agree do not, or a saved state is of something else.
struct shape_error : error {
    using error::error;
};

/// Ranks have different compositions, layers, options, orders of layers, seeds or steps. Every rank throws it, with the
/// same text. `rank` is the first rank that differs from one before it; -1 where that is not known.
struct agreement_error : error {
    int rank;

    agreement_error(int rank_, std::string const& why) : error(why), rank(rank_) {}
    agreement_error(int rank_, detail::text_pieces why) : error(why), rank(rank_) {}
};

/// A gradient has a NaN or an infinity, or what the rank would compress overflows (the difference to its shift, its
/// momentum). The members name the rank, the round and the first such coordinate. Every rank throws it, before it has
/// decoded or remembered anything of that round; and so it does where the ranks' sum of finite numbers overflows, or
/// the estimate cannot be written.
struct non_finite_error : error {
    /// In place of a rank: the estimate, in the caller's numbers and with the loss scale, or the ranks' sum.
    static constexpr int estimate = -1, sum = -2;
    int rank;
    std::uint64_t round;
    std::size_t coordinate;
    std::string of;

    /// `of` names the vector, such as "layer conv.bias"; it is empty where there is one vector only.
    non_finite_error(int rank_, std::uint64_t round_, std::size_t coordinate_, std::string of_ = "")
        : error(detail::concat(
              {(rank_ < 0 ? "" : detail::concat({"rank ", rank_, ", "})), "round ", round_,
               (rank_ == estimate
                    ? ": the estimate, times the loss scale, is beyond the caller's numbers at coordinate "
                : rank_ == sum ? ": the ranks' sum is not finite at coordinate "
                               : ": the gradient is not finite at coordinate "),
               coordinate_, (of_.empty() ? "" : detail::concat({" of ", of_}))})),
          rank(rank_),
          round(round_),
          coordinate(coordinate_),
          of(std::move(of_)) {}
};

/// A rank could not make a message of a finite gradient, for instance because its norm is beyond the range of its type.
/// The members name the rank, the round and the reason. Every rank throws it, before it has decoded or remembered
/// anything of that round.
struct compression_error : error {
    int rank;
    std::uint64_t round;
    std::string why;

    compression_error(int rank_, std::uint64_t round_, std::string why_)
        : error(detail::concat({"rank ", rank_, ", round ", round_, ": ", why_})),
          rank(rank_),
          round(round_),
          why(std::move(why_)) {}
};

/// Bytes are not a valid message: `bit` counts from the start of the message, `why` is the reason.
struct wire_error : error {
    std::uint64_t bit;
    std::string why;

    wire_error(std::uint64_t bit_, std::string why_)
        : error(detail::concat({"at bit ", bit_, " of a message: ", why_})), bit(bit_), why(std::move(why_)) {}
};

/// A rank failed, left or never came; `rank` is -1 where the engine cannot identify it.
struct comm_error : error {
    int rank;

    comm_error(int rank_, std::string const& why) : error(why), rank(rank_) {}
    comm_error(int rank_, detail::text_pieces why) : error(why), rank(rank_) {}
};

/// A file is missing or broken. Line and column count from 1; they are 0 where the error has no place in the file.
struct file_error : error {
    std::string file;
    std::size_t line, column;

    file_error(std::string file_, std::size_t line_, std::size_t column_, std::string const& why)
        : error(detail::concat({place(file_, line_, column_), ": ", why})),
          file(std::move(file_)),
          line(line_),
          column(column_) {}

  private:
    static std::string place(std::string text, std::size_t line, std::size_t column) {
        if (line > 0) text.append(":").append(std::to_string(line)).append(":").append(std::to_string(column));
        return text;
    }
};

/// A written composition, such as "diana(rand_k(0.1))", cannot be read; `column` counts characters from 1.
struct parse_error : error {
    std::string text, why;
    std::size_t column;

    parse_error(std::string text_, std::size_t column_, std::string why_)
        : error(detail::concat({"'", text_, "', column ", column_, ": ", why_})),
          text(std::move(text_)),
          why(std::move(why_)),
          column(column_) {}
};

}  // namespace laconic
