// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "laconic/message/message.hpp"

namespace laconic::messages {

/// The number of a code on the grid least + {0, 1, ..} x step: rounded once, so that it is the same with and without
/// fused products.
template <Scalar T>
constexpr T stepped_value(T least, T step, int code) {
    return std::fma(static_cast<T>(code), step, least);
}

/// Numbers between the least and the largest of their bucket of consecutive ones (the last bucket may be shorter):
/// number j is least_{j / bucket} + codes_j x steps_{j / bucket}, codes_j < 2^width, width in 1 .. 8.
template <Scalar T, class B>
struct stepped {
    using value_type = T;
    template <class Other>
    using for_backend = stepped<T, Other>;
    int width = 8;
    std::size_t bucket = 1;
    typename B::template array<T> least, steps;
    typename B::template array<std::uint8_t> codes;

    struct terms_of_bucket {
        T least, step;
        std::uint8_t const* codes;
        std::size_t count;
        static constexpr bool in_order = true;
        constexpr std::size_t size() const { return count; }
        constexpr term<T> operator[](std::size_t j) const {
            return {static_cast<coordinate>(j), stepped_value(least, step, codes[j])};
        }
    };
    struct terms_type {
        T const *least, *steps;
        std::uint8_t const* codes;
        std::size_t bucket, count;
        static constexpr bool in_order = true;
        constexpr std::size_t size() const { return count; }
        constexpr term<T> operator[](std::size_t j) const {
            return {static_cast<coordinate>(j), stepped_value(least[j / bucket], steps[j / bucket], codes[j])};
        }
        constexpr terms_of_bucket from(std::size_t first) const {
            std::size_t const b = first / bucket;
            return {least[b], steps[b], codes + first, std::min(bucket - first % bucket, count - first)};
        }
    };

    static auto fields(auto& m) { return std::tie(m.width, m.bucket, m.least, m.steps, m.codes); }
    std::size_t dimension() const { return codes.size(); }
    bool fits(std::size_t n) const {
        return codes.size() == n && least.size() == steps.size() && detail::make_buckets(steps.size(), n, bucket);
    }
    terms_type terms() const& { return {least.data(), steps.data(), codes.data(), bucket, codes.size()}; }
    void terms() const&& = delete;
    bool operator==(stepped const&) const = default;
};

}  // namespace laconic::messages
