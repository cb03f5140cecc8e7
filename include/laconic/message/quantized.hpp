// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "laconic/message/message.hpp"

namespace laconic {

/// Numbers on a grid, in buckets of equal length (the last may be shorter): number j is codes_j x steps_{j / bucket},
/// |codes_j| <= levels.
template <Scalar T, class B>
struct quantized {
    using value_type = T;
    template <class Other>
    using for_backend = quantized<T, Other>;
    int levels = 1;
    std::size_t bucket = 1;
    typename B::template array<T> steps;
    typename B::template array<std::int16_t> codes;

    struct terms_of_bucket {
        T step;
        std::int16_t const* codes;
        std::size_t count;
        static constexpr bool in_order = true;
        constexpr std::size_t size() const { return count; }
        constexpr term<T> operator[](std::size_t j) const {
            return {static_cast<coordinate>(j), static_cast<T>(codes[j]) * step};
        }
    };
    struct terms_type {
        T const* steps;
        std::int16_t const* codes;
        std::size_t bucket, count;
        static constexpr bool in_order = true;
        constexpr std::size_t size() const { return count; }
        constexpr term<T> operator[](std::size_t j) const {
            return {static_cast<coordinate>(j), static_cast<T>(codes[j]) * steps[j / bucket]};
        }
        constexpr terms_of_bucket from(std::size_t first) const {
            return {steps[first / bucket], codes + first, std::min(bucket - first % bucket, count - first)};
        }
    };

    static auto fields(auto& m) { return std::tie(m.levels, m.bucket, m.steps, m.codes); }
    std::size_t dimension() const { return codes.size(); }
    terms_type terms() const& { return {steps.data(), codes.data(), bucket, codes.size()}; }
    void terms() const&& = delete;
    bool operator==(quantized const&) const = default;
};

}  // namespace laconic
