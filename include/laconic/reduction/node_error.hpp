// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"

namespace laconic::detail {

/// Why a rank of a reducer over nodes cannot take a step, in the form in which the nodes' own errors carry it: every
/// rank raises the same error from it.
class node_error {
  public:
    node_error(int rank, std::string why) : node_error('c', rank, 0, std::move(why)) {}
    /// The i-th number of the vector, or of the vector named `of`, is not finite.
    node_error(int rank, std::size_t i, std::string of) : node_error('n', rank, i, std::move(of)) {}

    /// This rank has other layers or settings than one before it.
    static node_error of_agreement(int rank, std::string why) { return {'d', rank, 0, std::move(why)}; }

    /// What this exception, of rank `own`, says of what that rank was given: argument_error and theory_error, with the
    /// rank. Others as of() does.
    template <class RankOf>
    static node_error of_arguments(std::exception_ptr failed, int own, RankOf rank_of) {
        try {
            std::rethrow_exception(failed);
        } catch (argument_error const& e) {
            return {'a', own, 0, concat({"rank ", own, ": ", e.what()})};
        } catch (theory_error const& e) {
            return {'t', own, 0, concat({"rank ", own, ": ", e.what()})};
        } catch (...) {
            return of(failed, rank_of, [](std::size_t i, std::string const&) { return i; });
        }
    }

    bool is_not_finite() const { return kind_ == 'n'; }
    [[noreturn]] void raise(std::uint64_t round) const {
        if (kind_ == 'n') throw non_finite_error(rank_, round, static_cast<std::size_t>(number_), why_);
        if (kind_ == 'c') throw compression_error(rank_, round, why_);
        if (kind_ == 'w') throw wire_error(number_, why_);
        if (kind_ == 's') throw shape_error(why_);
        if (kind_ == 'd') throw agreement_error(rank_, why_);
        if (kind_ == 'a') throw argument_error(why_);
        if (kind_ == 't') throw theory_error(why_);
        throw comm_error(rank_, why_);
    }

    /// The text from which read() makes an equal node_error.
    std::string text() const {
        std::string all(mark);
        all += kind_;
        std::uint64_t const numbers[] = {static_cast<std::uint64_t>(rank_), number_};
        for (auto const n : numbers)
            for (int byte = 0; byte < 8; ++byte) all += static_cast<char>(n >> 8 * byte & 255);
        return all + why_;
    }
    /// Reads such a text; for other bytes, an error that names this rank as their sender.
    static node_error read(std::span<std::byte const> bytes, int rank) {
        std::string const text(reinterpret_cast<char const*>(bytes.data()), bytes.size());
        if (auto const found = in(text)) return *found;
        return {'m', rank, 0, concat({"rank ", rank, " sent no reason that can be read"})};
    }
    /// Converts an error of the step between nodes, whose ranks and coordinates are those of shares: rank_of(r) is the
    /// number of its rank r among all ranks, and place(i, of) the index in the whole vector `of` of number i.
    template <class RankOf, class Place>
    static node_error of(std::exception_ptr failed, RankOf rank_of, Place place) {
        try {
            std::rethrow_exception(failed);
        } catch (non_finite_error const& e) {
            return {'n', e.rank < 0 ? -1 : rank_of(e.rank), place(e.coordinate, e.of), e.of};
        } catch (compression_error const& e) {
            if (auto const first = in(e.why)) return *first;
            return {'c', rank_of(e.rank), 0, e.why};
        } catch (wire_error const& e) {
            return {'w', 0, e.bit, e.why};
        } catch (shape_error const& e) {
            return {'s', 0, 0, e.what()};
        } catch (agreement_error const& e) {
            return {'d', e.rank < 0 ? -1 : rank_of(e.rank), 0, e.what()};
        } catch (comm_error const& e) {
            return {'m', e.rank < 0 ? -1 : rank_of(e.rank), 0, e.what()};
        } catch (std::exception const& e) {
            return {'m', -1, 0, e.what()};
        }
    }

  private:
    static constexpr char const* mark = "\x01node ";

    node_error(char kind, int rank, std::uint64_t number, std::string why)
        : kind_(kind), rank_(rank), number_(number), why_(std::move(why)) {}
    // The node_error in a text, wherever it begins.
    static std::optional<node_error> in(std::string const& text) {
        auto const begin = text.find(mark);
        std::size_t const head = std::strlen(mark) + 1 + 16;
        if (begin == text.npos || text.size() - begin < head) return {};
        char const* at = text.data() + begin + std::strlen(mark);
        char const kind = *at++;
        if (std::string_view("ncwsdatm").find(kind) == std::string_view::npos) return {};
        std::uint64_t numbers[2] = {};
        for (auto& n : numbers)
            for (int byte = 0; byte < 8; ++byte) n |= std::uint64_t{static_cast<unsigned char>(*at++)} << 8 * byte;
        return node_error(kind, static_cast<int>(numbers[0]), numbers[1], text.substr(begin + head));
    }

    char kind_;
    int rank_;
    std::uint64_t number_;
    std::string why_;
};

/// One rank's part in the comparison of a step over nodes.
struct whole_step {
    double weight;
    std::uint64_t round, dense, options = 0;  // the last: a digest

    /// Why a rank with this step and one with the `other` cannot take it together, if they cannot.
    [[gnu::cold, gnu::noinline]] std::optional<node_error> unlike(whole_step const& other, int rank,
                                                                  int other_rank) const {
        if (round != other.round)
            return node_error::of_agreement(
                rank, concat({"rank ", rank, " has taken ", round, " steps, rank ", other_rank, " ", other.round}));
        if (dense != other.dense)
            return node_error::of_agreement(
                rank, concat({"rank ", rank, ", round ", round, ": the step is ", (other.dense != 0 ? "not " : ""),
                              "dense, unlike on rank ", other_rank}));
        if (options != other.options)
            return node_error::of_agreement(
                rank, concat({"rank ", rank, " has another step size, loss scale or type of numbers than rank ",
                              other_rank}));
        return {};
    }
};

}  // namespace laconic::detail
