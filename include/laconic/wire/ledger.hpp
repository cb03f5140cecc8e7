// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "laconic/core/contract.hpp"

namespace laconic {

/// The encoding of positions that a writer takes: the shortest of all, except for runs where these are seldom shorter
/// (docs/wire-format.md), or the shortest of those that are fastest to read.
enum class position_code { smallest, fastest };

}  // namespace laconic

/// The codecs: sinks and sources of bits, and what messages are written with.
namespace laconic::wire {

/// What the bits of a message are spent on. `header` is what separates the rest: counts, tags, padding.
enum class message_part { header, positions, scalars, values };

/// A sink that only adds widths, separately for each part: the size of a message is the size of what write() writes.
class ledger {
  public:
    explicit ledger(position_code how = position_code::smallest) : how_(how) {}

    void put(std::uint64_t, unsigned width) { spent_[static_cast<std::size_t>(to_)] += width; }
    /// Adds words of so many bits in all.
    void add(std::uint64_t bits) { spent_[static_cast<std::size_t>(to_)] += bits; }
    void charge(message_part to) { to_ = to; }
    position_code positions_as() const { return how_; }

    /// In bits: the numbers themselves; the coordinates that they belong to; norms, scales and other numbers that many
    /// values share; and all the rest, including the padding to whole bytes.
    std::uint64_t values() const { return spent(message_part::values); }
    std::uint64_t positions() const { return spent(message_part::positions); }
    std::uint64_t scalars() const { return spent(message_part::scalars); }
    std::uint64_t header() const { return spent(message_part::header) + (8 - unpadded() % 8) % 8; }

    /// The bits put without padding, and in whole bytes, which is the sum of the four.
    std::uint64_t unpadded() const {
        return spent(message_part::header) + spent(message_part::positions) + spent(message_part::scalars) +
               spent(message_part::values);
    }
    std::uint64_t bits() const { return (unpadded() + 7) / 8 * 8; }

  private:
    std::uint64_t spent(message_part of) const { return spent_[static_cast<std::size_t>(of)]; }

    std::array<std::uint64_t, 4> spent_{};
    message_part to_ = message_part::values;
    position_code how_;
};

}  // namespace laconic::wire

namespace laconic {

/// The bits that papers count for a message, by a formula. For a message without a formula, such as a user's, it is the
/// number of bits written.
template <class M>
double bits_as_paper(M const& m) {
    wire::ledger books(position_code::smallest);
    write(books, m);
    return static_cast<double>(books.bits());
}

}  // namespace laconic

namespace laconic::messages {

using laconic::bits_as_paper;

}  // namespace laconic::messages
