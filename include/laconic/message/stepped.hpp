// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "laconic/message/message.hpp"

namespace laconic {

/// The number of a code on the grid least + {0, 1, ..} x step: rounded once, so that it is the same with and without
/// fused products.
template <Scalar T>
T stepped_value(T least, T step, int code) {
    return std::fma(static_cast<T>(code), step, least);
}

/// Numbers between the least and the largest of their bucket of consecutive ones (the last bucket may be shorter):
/// number j is least_{j / bucket} + codes_j x steps_{j / bucket}, codes_j < 2^width, width = 1 .. 8.
template <Scalar T, class B>
struct stepped {
    using value_type = T;
    int width = 8;
    std::size_t bucket = 1;
    typename B::template array<T> least, steps;
    typename B::template array<std::uint8_t> codes;

    struct terms_type {
        T const *least, *steps;
        std::uint8_t const* codes;
        std::size_t bucket, count;
        static constexpr bool in_order = true;
        std::size_t size() const { return count; }
        term<T> operator[](std::size_t j) const {
            return {static_cast<coordinate>(j), stepped_value(least[j / bucket], steps[j / bucket], codes[j])};
        }
    };

    struct terms_of_bucket {
        T least, step;
        std::uint8_t const* codes;
        std::size_t count;
        static constexpr bool in_order = true;
        std::size_t size() const { return count; }
        term<T> operator[](std::size_t j) const {
            return {static_cast<coordinate>(j), stepped_value(least, step, codes[j])};
        }
    };

    std::size_t dimension() const { return codes.size(); }
    terms_type terms() const& { return {least.data(), steps.data(), codes.data(), bucket, codes.size()}; }
    void terms() const&& = delete;
    terms_of_bucket terms_from(std::size_t first) const& {
        std::size_t const b = first / bucket;
        return {least[b], steps[b], codes.data() + first, std::min(bucket - first % bucket, codes.size() - first)};
    }
    bool operator==(stepped const&) const = default;
};

}  // namespace laconic
