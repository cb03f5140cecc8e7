// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "laconic/core/error.hpp"
#include "laconic/core/size.hpp"
#include "laconic/core/view.hpp"
#include "laconic/wire/stream.hpp"

namespace laconic::detail {

/// Cuts the coordinates 0 .. d - 1, d < 2^32, into blocks of `block` >= 1; the last may be shorter.
struct omni_blocks {
    std::size_t d;
    std::size_t block;

    /// Throws argument_error for block = 0.
    void check() const {
        if (block == 0) throw argument_error("blocks of 0 coordinates");
    }
    std::size_t count() const { return d / block + (d % block != 0); }
    std::size_t first(std::size_t b) const { return b * block; }
    std::size_t length(std::size_t b) const { return std::min(block, d - b * block); }
    /// The length of the longest block, which is room for any.
    std::size_t longest() const { return std::min(block, d); }
    /// The numbers of block b.
    template <class T>
    std::span<T> of(std::span<T> x, std::size_t b) const {
        return x.subspan(first(b), length(b));
    }
};

/// Deals blocks to `parts` >= 1 parts: of each row of `parts` consecutive blocks every part gets one. The part that
/// gets the first of a row changes from row to row by the golden section, so that neither runs of blocks nor every n-th
/// block, as the columns of a matrix give, come to a few parts only.
struct omni_deal {
    std::size_t blocks;
    std::size_t parts;

    std::size_t rows() const { return blocks / parts + (blocks % parts != 0); }
    std::size_t row_of(std::size_t b) const { return b / parts; }
    std::size_t part_of(std::size_t b) const { return (b % parts + turned(b / parts)) % parts; }
    /// The block of a part in a row; a number >= blocks, which does not exist, where the last row is short.
    std::size_t block_of(std::size_t part, std::size_t row) const {
        return row * parts + (part + parts - turned(row)) % parts;
    }

  private:
    // A number below `parts`, from a fraction in 32 bits.
    std::size_t turned(std::size_t row) const {
        return detail::as_size(((std::uint64_t{row} * 2654435769u & 0xffffffffu) * parts) >> 32);
    }
};

// The number of chunks of rows in which d numbers are sent, so that one is scanned and added up while others are in
// flight. Not so many that messages get short: each has at least 2^17 numbers a rank, most of which are not sent.
inline std::size_t omni_chunks(std::size_t d, std::size_t ranks) {
    return std::clamp<std::size_t>(d / (std::max<std::size_t>(ranks, 8) << 17), 1, 8);
}

}  // namespace laconic::detail
