// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "laconic/message/message.hpp"

namespace laconic {

/// Numbers on halvings of a norm, in buckets of equal length (the last may be shorter): number j is 0 where codes_j is,
/// else norms_{j / bucket} x 2^(|codes_j| - levels) with the sign of codes_j, |codes_j| <= levels <= 1000.
template <Scalar T, class B>
struct dithered {
    using value_type = T;
    int levels = 1;
    std::size_t bucket = 1;
    typename B::template array<T> norms;
    typename B::template array<std::int16_t> codes;

    struct terms_type {
        T const* norms;
        std::int16_t const* codes;
        int levels;
        std::size_t bucket, count;
        static constexpr bool in_order = true;
        constexpr std::size_t size() const { return count; }
        constexpr term<T> operator[](std::size_t j) const {
            int const code = codes[j], level = code < 0 ? -code : code;
            // In double, whose exponents reach further down than those of the floats that have 1000 levels.
            double const power = std::bit_cast<double>(static_cast<std::uint64_t>(1023 + level - levels) << 52);
            T const size = level == 0 ? T(0) : static_cast<T>(static_cast<double>(norms[j / bucket]) * power);
            return {static_cast<coordinate>(j), code < 0 ? -size : size};
        }
    };

    std::size_t dimension() const { return codes.size(); }
    terms_type terms() const& { return {norms.data(), codes.data(), levels, bucket, codes.size()}; }
    void terms() const&& = delete;
    bool operator==(dithered const&) const = default;
};

}  // namespace laconic
