// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "laconic/backend/block_format.hpp"
#include "laconic/backend/host/round_to_short.hpp"

namespace laconic::kernels {

/// Each block of f.block >= 1 consecutive values (the last may be shorter) over its scale, times `shared`, to the codes
/// of f.element: scales_b is the block_scale of the largest magnitude, rounded up at random, and the codes are those of
/// round_to_short for the quotients, where value i draws chance first + i of the key. `shared` is 1, or the
/// tensor_scale where scales are of e4m3. Returns whether all values, and the largest that a code can stand for, are
/// finite; where not, what was written is of no use. One pass over x, in which a block longer than the first cache is
/// read twice.
template <class A, Scalar T>
bool round_blocks_to_short(basic_host<A>& on, std::span<T const> x, block_layout f, rounding how, T shared, key from,
                           std::span<T> scales, std::span<std::uint16_t> codes, std::uint64_t first = 0) {
    LACONIC_EXPECTS(codes.size() == x.size() && detail::make_pieces(scales.size(), x.size(), f.block));
    constexpr std::size_t together = 1024;
    alignas(64) std::array<T, together> quotients;
    std::size_t held = 0;
    detail::codes_out<A, std::uint16_t> out(codes, 2 * x.size() >= detail::bytes_past_caches);
    auto const round_held = [&] {
        std::span<T const> const all(quotients.data(), held);
        if (how == rounding::random)
            round_to_short(on, all, f.element, from, first, out);
        else
            round_to_short(on, all, f.element, out);
        first += held;
        held = 0;
    };
    T const top = largest_value<T>(f.element);
    bool const finite = detail::each_bucket_is(x, f.block, [&](std::size_t b, std::size_t, std::span<T const> part) {
        detail::bits_of<T> largest = 0;
        for (T const v : part) largest = std::max(largest, detail::magnitude_bits(v));
        scales[b] = block_scale(std::bit_cast<T>(largest), f, how == rounding::random, shared);
        T const by = shared * scales[b];
        if (!std::isfinite(by * top)) return false;
        T const divisor = by > 0 ? by : T(1);  // all are zeros
        for (std::size_t i = 0; i < part.size();) {
            std::size_t const n = std::min(part.size() - i, together - held);
            for (std::size_t j = 0; j < n; ++j) quotients[held + j] = part[i + j] / divisor;
            held += n;
            i += n;
            if (held == together) round_held();
        }
        return true;
    });
    if (finite) round_held();
    out.finish();
    return finite;
}

}  // namespace laconic::kernels
