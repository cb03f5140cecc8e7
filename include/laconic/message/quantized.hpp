// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "laconic/backend/rounding.hpp"
#include "laconic/message/message.hpp"

namespace laconic {

/// Numbers on a grid, in buckets of equal length (the last may be shorter): number j is code_j x steps_{j / bucket},
/// |code_j| <= levels. Codes are bytes where these hold all levels; else they are in wide_codes, and the other array is
/// empty.
template <Scalar T, class B>
struct quantized {
    using value_type = T;
    template <class Other>
    using for_backend = quantized<T, Other>;
    static constexpr int most_in_byte = most_levels<std::int8_t>;
    int levels = 1;
    std::size_t bucket = 1;
    typename B::template array<T> steps;
    typename B::template array<std::int8_t> codes;
    typename B::template array<std::int16_t> wide_codes = {};

    /// use(codes), with the array that they are in.
    static decltype(auto) with_codes(auto& m, auto use) {
        return m.levels <= most_in_byte ? use(m.codes) : use(m.wide_codes);
    }
    /// So many codes, to be written.
    void resize(std::size_t d) {
        codes.resize(levels <= most_in_byte ? d : 0);
        wide_codes.resize(levels <= most_in_byte ? 0 : d);
    }

    /// Where codes stand, in one of two widths.
    struct code_list {
        std::int8_t const* bytes;
        std::int16_t const* wide;  ///< null: they are bytes
        constexpr int operator[](std::size_t j) const { return wide == nullptr ? bytes[j] : wide[j]; }
        constexpr code_list from(std::size_t first) const {
            return {wide == nullptr ? bytes + first : bytes, wide == nullptr ? wide : wide + first};
        }
    };
    struct terms_of_bucket {
        T step;
        code_list codes;
        std::size_t count;
        static constexpr bool in_order = true;
        constexpr std::size_t size() const { return count; }
        constexpr term<T> operator[](std::size_t j) const {
            return {static_cast<coordinate>(j), static_cast<T>(codes[j]) * step};
        }
    };
    struct terms_type {
        T const* steps;
        code_list codes;
        std::size_t bucket, count;
        static constexpr bool in_order = true;
        constexpr std::size_t size() const { return count; }
        constexpr term<T> operator[](std::size_t j) const {
            return {static_cast<coordinate>(j), static_cast<T>(codes[j]) * steps[j / bucket]};
        }
        constexpr terms_of_bucket from(std::size_t first) const {
            return {steps[first / bucket], codes.from(first), std::min(bucket - first % bucket, count - first)};
        }
    };

    static auto fields(auto& m) { return std::tie(m.levels, m.bucket, m.steps, m.codes, m.wide_codes); }
    std::size_t dimension() const { return codes.size() + wide_codes.size(); }
    terms_type terms() const& {
        return {
            steps.data(), {codes.data(), levels <= most_in_byte ? nullptr : wide_codes.data()}, bucket, dimension()};
    }
    void terms() const&& = delete;
    bool operator==(quantized const&) const = default;
};

}  // namespace laconic
