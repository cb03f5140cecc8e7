// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>

#include "laconic/backend/norm.hpp"
#include "laconic/compress/damped_quantize.hpp"
#include "laconic/compress/levels.hpp"

namespace laconic {

/// The level l is the bits of a number: it has 2^l - 1 grid points to each side, which fit in l + 1 bits; the lowest
/// takes 1.6 bits. The bits are those that a message writes: papers' log2(2 levels + 1) are up to 7 % less.
template <>
struct levels<damped_quantize> {
    using type = damped_quantize;
    static std::size_t count(type const&, std::size_t d) { return d == 0 ? 0 : 15; }
    static type at(type c, std::size_t level, std::size_t) {
        c.levels = level == 0 ? 1 : (1 << level) - 1;
        return c;
    }
    /// What a text says of the family: quantize(bucket=16, p=inf).
    struct family_text {
        type c{};
        static constexpr void description(auto&& describe) {
            describe("quantize", "", "",
                     field(
                         "bucket", [](auto& f) -> auto& { return f.c.bucket; })

                         .by_name(),
                     field(
                         "p", [](auto& f) -> auto& { return f.c.p; })
                         .by_name());
        }
    };
    static std::string family(type const& c) { return to_string(family_text{c}); }
    template <Scalar T>
    static double bits(type const& c, std::size_t level, std::size_t d) {
        std::size_t codes = d * (level + 1), last = 1;
        for (std::size_t j = 0; j < d % 5; ++j) last *= 3;
        if (level == 1) codes = d / 5 * 8 + detail::bits_of_place(last);  // five in eight bits
        return static_cast<double>(detail::pieces_in(d, detail::bucket_of(c.bucket, d)) * 8 * sizeof(T) + codes);
    }
    template <class B, Scalar T>
    static void kept(B& on, type const& c, std::span<T const> x, typename B::template array<T>&, std::span<double> q) {
        T const largest = largest_magnitude(on, x);
        for (double& v : q) v = 0;
        double all = 0;
        // noise(level, step) is the variance that rounding on that grid adds.
        auto const add_bucket = [&](T scale, T top, double squares, auto noise) {
            if (!(top > 0)) return;
            double const ratio = double(top / largest);
            double const energy = squares * ratio * ratio;
            all = std::fma(squares * ratio, ratio, all);  // rounded alike with and without fused products
            for (std::size_t level = 1; level <= q.size(); ++level) {
                T const step = kernels::grid_step(scale, at(c, level, x.size()).levels);
                double const height = static_cast<double>(top) / static_cast<double>(step);
                q[level - 1] += energy / (1 + noise(level, step) / (squares * height * height));
            }
        };
        std::size_t const bucket = detail::bucket_of(c.bucket, x.size());
        if constexpr (requires { facts_of_buckets(on, x, bucket, c.p, std::span<int const>()); }) {  // all at once
            std::array<int, 15> points{};
            for (std::size_t level = 1; level <= q.size(); ++level) points[level - 1] = at(c, level, x.size()).levels;
            auto const facts = facts_of_buckets(on, x, bucket, c.p, std::span<int const>(points).first(q.size()));
            std::size_t const n = detail::pieces_in(x.size(), bucket);
            for (std::size_t b = 0; b < n; ++b)
                add_bucket(static_cast<T>(facts[b]), static_cast<T>(facts[n + b]), facts[2 * n + b],
                           [&](std::size_t level, T) { return facts[(2 + level) * n + b]; });
        } else {
            detail::each_bucket(x, bucket, [&](std::size_t, std::size_t, auto part) {
                T const top = largest_magnitude(on, part);
                if (top > 0)
                    add_bucket(kernels::norm_of(on, c.p, part), top, kernels::squares_in_units(on, part, top),
                               [&](std::size_t, T step) { return rounding_variance(on, part, step); });
            });
        }
        for (double& v : q) v /= all;
    }
};

}  // namespace laconic
