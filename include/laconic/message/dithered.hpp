// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "laconic/message/message.hpp"

namespace laconic::messages {

/// Numbers on halvings of a norm, in buckets of equal length (the last may be shorter): number j is 0 where codes_j is
/// 0, else norms_{j / bucket} x 2^(|codes_j| - levels) with the sign of codes_j, |codes_j| <= levels <= 1000.
template <Scalar T, class B>
struct dithered {
    using value_type = T;
    template <class Other>
    using for_backend = dithered<T, Other>;
    int levels = 1;
    std::size_t bucket = 1;
    typename B::template array<T> norms;
    typename B::template array<std::int16_t> codes;

    struct terms_of_bucket {
        T norm;
        std::int16_t const* codes;
        int levels;
        std::size_t count;
        static constexpr bool in_order = true;
        constexpr std::size_t size() const { return count; }
        constexpr term<T> operator[](std::size_t j) const {
            return {static_cast<coordinate>(j), value_of(norm, levels, codes[j])};
        }
    };
    struct terms_type {
        T const* norms;
        std::int16_t const* codes;
        int levels;
        std::size_t bucket, count;
        static constexpr bool in_order = true;
        constexpr std::size_t size() const { return count; }
        constexpr term<T> operator[](std::size_t j) const {
            return {static_cast<coordinate>(j), value_of(norms[j / bucket], levels, codes[j])};
        }
        constexpr terms_of_bucket from(std::size_t first) const {
            return {norms[first / bucket], codes + first, levels, std::min(bucket - first % bucket, count - first)};
        }
    };
    static constexpr T value_of(T norm, int levels, int code) {
        int const level = code < 0 ? -code : code;
        // In double, whose exponents reach below those of the floats at 1000 levels.
        auto const exponent = static_cast<std::uint64_t>(1023 + level - levels) << 52;
        // Chosen among integers, which compilers vectorize: 0 for level 0; the sign is put in by its bit.
        double const power = std::bit_cast<double>(level != 0 ? exponent : 0);
        using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
        auto const size = std::bit_cast<bits>(static_cast<T>(static_cast<double>(norm) * power));
        return std::bit_cast<T>(size ^ static_cast<bits>(code < 0) << (8 * sizeof(T) - 1));
    }

    static auto fields(auto& m) { return std::tie(m.levels, m.bucket, m.norms, m.codes); }
    std::size_t dimension() const { return codes.size(); }
    bool fits(std::size_t n) const { return codes.size() == n && detail::make_buckets(norms.size(), n, bucket); }
    terms_type terms() const& { return {norms.data(), codes.data(), levels, bucket, codes.size()}; }
    void terms() const&& = delete;
    bool operator==(dithered const&) const = default;
};

}  // namespace laconic::messages
