// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>

#include "laconic/backend/arguments.hpp"
#include "laconic/message/message.hpp"

namespace laconic::messages {

/// Numbers on a grid, in buckets of equal length (the last may be shorter): number j is code_j x steps_{j / bucket},
/// |code_j| <= levels. Codes are bytes where bytes hold all levels; else they are in wide_codes, and `codes` is empty.
template <Scalar T, class B>
struct quantized {
    using value_type = T;
    template <class Other>
    using for_backend = quantized<T, Other>;
    static constexpr int most_in_byte = kernels::most_levels<std::int8_t>;
    int levels = 1;
    std::size_t bucket = 1;
    typename B::template array<T> steps;
    typename B::template array<std::int8_t> codes;
    typename B::template array<std::int16_t> wide_codes = {};

    /// Calls use() with the array that holds the codes.
    static decltype(auto) with_codes(auto& m, auto use) {
        return m.levels <= most_in_byte ? use(m.codes) : use(m.wide_codes);
    }
    void resize(std::size_t n) {
        steps.resize(detail::pieces_in(n, bucket));
        codes.resize(levels <= most_in_byte ? n : 0);
        wide_codes.resize(levels <= most_in_byte ? 0 : n);
    }

    template <class Codes>
    struct in_bucket {
        T step;
        Codes codes;
        constexpr T operator()(std::size_t j) const { return static_cast<T>(codes[j]) * step; }
    };
    template <class Codes>
    struct in_buckets {
        T const* steps;
        Codes codes;
        std::size_t bucket;
        constexpr T operator()(std::size_t j) const { return static_cast<T>(codes[j]) * steps[j / bucket]; }
        constexpr in_bucket<Codes> from(std::size_t first) const { return {steps[first / bucket], codes + first}; }
        constexpr std::size_t left(std::size_t first) const { return bucket - first % bucket; }
    };
    template <class Codes>
    using terms_by = terms_in_order<in_buckets<Codes>>;
    /// A view of codes of either width.
    struct any_codes {
        std::int8_t const* bytes;
        std::int16_t const* wide;  ///< null: they are bytes
        constexpr int operator[](std::size_t j) const { return wide == nullptr ? bytes[j] : wide[j]; }
        friend constexpr any_codes operator+(any_codes c, std::size_t first) {
            return c.wide == nullptr ? any_codes{c.bytes + first, nullptr} : any_codes{nullptr, c.wide + first};
        }
    };

    static auto fields(auto& m) { return std::tie(m.levels, m.bucket, m.steps, m.codes, m.wide_codes); }
    std::size_t dimension() const { return codes.size() + wide_codes.size(); }
    bool fits(std::size_t n) const {
        return dimension() == n && with_codes(*this, [n](auto const& all) { return all.size() == n; }) &&
               detail::make_buckets(steps.size(), n, bucket);
    }
    terms_by<any_codes> terms() const& {
        bool const are_bytes = levels <= most_in_byte;
        return {{steps.data(), {codes.data(), are_bytes ? nullptr : wide_codes.data()}, bucket}, dimension()};
    }
    void terms() const&& = delete;
    bool operator==(quantized const&) const = default;
};

/// Chooses the width of the codes once, not for each of them.
template <class B, Scalar S, Scalar T, class Held>
void add_message(B& on, std::span<S> out, S w, quantized<T, Held> const& m) {
    m.with_codes(m, [&](auto const& codes) {
        using terms = typename quantized<T, Held>::template terms_by<decltype(codes.data())>;
        add_terms(on, out, w, terms{{m.steps.data(), codes.data(), m.bucket}, codes.size()});
    });
}

}  // namespace laconic::messages
