// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>

#include "laconic/compress/curves.hpp"
#include "laconic/compress/natural.hpp"
#include "laconic/compress/proportional.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/signs.hpp"
#include "laconic/compress/top_k.hpp"

/// Compressors whose level can be chosen: how many levels there are, what each would keep of a vector, and how many
/// bits each would take.
namespace laconic {

/// What best_level needs of a compressor C, as static members; the levels are 1 .. count(c, d):
///   count(c, d)               their number for vectors of d numbers; 0 only where d is 0;
///   at(c, level, d)           c at that level; at level 0, c for a vector of no numbers;
///   family(c)                 the text of c without its level;
///   bits<T>(c, level, d)      the bits of its message, as papers count them: values in full, positions in ceil(log2
///                             d);
///   kept(on, c, x, room, q)   sets q[level - 1] to the share of |x|^2 that the level keeps, 1 - E|C(x) - x|^2 / |x|^2,
///                             or to less. x is finite and not zero; room is an array that lasts from call to call;
///   curve(c, histogram)       optional: the same from a histogram of the vector (compress/curves.hpp), so that long
///                             vectors are not sorted.
/// Specialize it for a compressor of your own.
template <class C>
struct levels;

/// A compressor with such levels.
template <class C, class T = double, class B = host>
concept Levelled = requires(C const& c, std::size_t n, B& on, std::span<T const> x, typename B::template array<T>& room,
                            std::span<double> q) {
    { levels<C>::count(c, n) } -> std::same_as<std::size_t>;
    { levels<C>::at(c, n, n) } -> std::same_as<C>;
    { levels<C>::family(c) } -> std::same_as<std::string>;
    { levels<C>::template bits<T>(c, n, n) } -> std::same_as<double>;
    levels<C>::kept(on, c, x, room, q);
};

namespace detail {

/// Whether a histogram suffices to compare the levels of C.
template <class C>
inline constexpr bool has_curve = requires(C const& c, histogram& h) {
    levels<C>::curve(c, h);
};

/// Whether C is one of two compressors, first and second, each with levels (compress/one_of.hpp).
template <class C>
inline constexpr bool has_two_families = false;

// Of a sparsifier whose level is its k; its numbers are in full, at positions out of d.
template <class C>
struct levels_of_k {
    static std::size_t count(C const&, std::size_t d) { return d; }
    static C at(C c, std::size_t level, std::size_t) {
        c.k = level;
        if constexpr (requires { c.chunk; }) c.chunk = 0;  // the levels are those of all numbers together
        return c;
    }
    static std::string family(C const& c) { return text_of(std::string(name_of_type<C>()), c.rest); }
    template <Scalar T>
    static double bits(C const&, std::size_t level, std::size_t d) {
        return static_cast<double>(level * (width_of(d) + 8 * sizeof(T)));
    }
};

// Of the k largest, their squares or, as signs times their mean magnitude, the square of their sum over k.
template <bool Squares>
struct levels_of_largest {
    template <class B, class C, Scalar T>
    static void kept(B& on, C const&, std::span<T const> x, typename B::template array<T>& room, std::span<double> q) {
        sort_magnitudes(on, x, room);
        auto const sorted = on_host(on, std::span<T const>(room));
        double const largest = static_cast<double>(sorted[0]);  // whose square may not be finite
        double sum = 0, squares = 0;
        for (std::size_t j = 0; j < x.size(); ++j) {
            double const v = static_cast<double>(sorted[j]) / largest;
            sum += v;
            squares = std::fma(v, v, squares);  // rounded once, with and without fused products
            q[j] = Squares ? squares : sum * sum / static_cast<double>(j + 1);
        }
        for (double& v : q) v /= squares;
    }
    static largest_curve<Squares> curve(auto const&, histogram& h) { return largest_curve<Squares>(h); }
};

}  // namespace detail

/// The level is k; it keeps the share of the energy that the k largest magnitudes have.
template <>
struct levels<top_k<>> : detail::levels_of_k<top_k<>>, detail::levels_of_largest<true> {};

/// The level is k; the largest are sent as signs times their mean magnitude, which keeps |x_k|_1^2 / (k |x|^2), not
/// unimodal in k. With buckets it keeps at least that (Cauchy-Schwarz).
template <>
struct levels<top_k<scaled_sign>> : detail::levels_of_k<top_k<scaled_sign>>, detail::levels_of_largest<false> {
    template <Scalar T>
    static double bits(top_k<scaled_sign> const& c, std::size_t level, std::size_t d) {
        std::size_t const scales = c.rest.bucket == 0 ? 1 : detail::pieces_in(level, c.rest.bucket);
        return static_cast<double>(scales * 8 * sizeof(T) + level * (detail::width_of(d) + 1));
    }
};

/// The level is k, the expected count of the draw, with the best probabilities and damped: share and bits are
/// expectations.
template <>
struct levels<proportional<identity, true>> : detail::levels_of_k<proportional<identity, true>> {
    using type = proportional<identity, true>;
    // As proportion_for, for every count at once: the lower the count, the fewer coordinates are certain.
    template <class B, Scalar T>
    static void kept(B& on, type const&, std::span<T const> x, typename B::template array<T>& room,
                     std::span<double> q) {
        sort_magnitudes(on, x, room);
        auto const sorted = on_host(on, std::span<T const>(room));
        double const largest = static_cast<double>(sorted[0]);
        auto const at = [&](std::size_t i) { return static_cast<double>(sorted[i]) / largest; };
        double rest = 0, squares = 0;
        for (std::size_t i = x.size(); i-- > 0;) {
            q[i] = rest += at(i);  // for now the sum from i on
            squares = std::fma(at(i), at(i), squares);
        }
        std::size_t certain = x.size();
        double of_certain = squares;  // the sum of the squares of the certain ones
        auto const one_less = [&] {
            --certain;
            of_certain = certain == 0 ? 0 : std::fma(-at(certain), at(certain), of_certain);
        };
        for (std::size_t k = x.size(); k > 0; --k) {
            while (certain >= k) one_less();
            while (certain > 0 && static_cast<double>(k - certain + 1) * at(certain - 1) <= q[certain - 1]) one_less();
            double const sum = q[certain];
            q[k - 1] = squares / std::fma(sum / static_cast<double>(k - certain), sum, of_certain);
        }
    }
    static detail::proportional_curve curve(type const&, detail::histogram& h) { return detail::proportional_curve(h); }
};

/// The level is k, the number of blocks; it keeps the share of the energy that the k largest blocks have.
template <>
struct levels<top_blocks<>> : detail::levels_of_k<top_blocks<>> {
    using type = top_blocks<>;
    static std::size_t count(type const& c, std::size_t d) { return detail::pieces_in(d, c.block); }
    /// What a text says of the family: top_blocks(block=16).
    struct family_text {
        type c{};
        static constexpr void description(auto&& describe) {
            describe("top_blocks", "", "",
                     detail::block_field([](auto& f) -> auto& { return f.c.block; }).written_by_name());
        }
    };
    static std::string family(type const& c) { return to_string(family_text{c}); }
    template <Scalar T>
    static double bits(type const& c, std::size_t level, std::size_t d) {
        std::size_t const block = std::min(c.block, d);
        return static_cast<double>(level * (detail::width_of(count(c, d)) + block * 8 * sizeof(T)));
    }
    template <class B, Scalar T>
    static void kept(B& on, type const& c, std::span<T const> x, typename B::template array<T>&, std::span<double> q) {
        // The squares of unscaled doubles may not be finite.
        double const unit = sizeof(T) == 8 ? static_cast<double>(largest_magnitude(on, x)) : 1;
        if constexpr (requires { squares_of_blocks(on, x, c.block, unit); }) {  // all blocks at once
            auto const squares = squares_of_blocks(on, x, c.block, unit);
            std::copy(squares.begin(), squares.end(), q.begin());
        } else {
            for (std::size_t b = 0; b < q.size(); ++b) {
                auto const part = x.subspan(b * c.block, std::min(c.block, x.size() - b * c.block));
                if constexpr (sizeof(T) == 8)
                    q[b] = sum_of_squares(on, part, unit);
                else
                    q[b] = sum_of_squares(on, part);
            }
        }
        std::sort(q.begin(), q.end(), [](double a, double b) { return a > b; });
        double sum = 0;
        for (double& v : q) v = sum += v;
        for (double& v : q) v /= sum;
    }
};

/// The level is k of rand_k, with values in full or rounded to powers of two. There is no kept(), as its error is the
/// same for every vector: the level belongs to a problem (method/cat.hpp). bits() are whole bytes.
template <class Rest>
requires(std::same_as<Rest, identity> || std::same_as<Rest, natural>) struct levels<rand_k<Rest>>
    : detail::levels_of_k<rand_k<Rest>> {
    template <Scalar T>
    static double bits(rand_k<Rest> const&, std::size_t level, std::size_t) {
        std::size_t width = 8 * sizeof(T);
        if constexpr (std::same_as<Rest, natural>) width = detail::message_of<natural, T>::code_width;
        return static_cast<double>((level * width + 7) / 8 * 8);
    }
};

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
            describe("quantize", "", "", field("bucket", &family_text::c, &type::bucket).by_name(),
                     field("p", &family_text::c, &type::p).by_name());
        }
    };
    static std::string family(type const& c) { return to_string(family_text{c}); }
    template <Scalar T>
    static double bits(type const& c, std::size_t level, std::size_t d) {
        std::size_t codes = d * (level + 1), last = 1;
        for (std::size_t j = 0; j < d % 5; ++j) last *= 3;
        if (level == 1) codes = d / 5 * 8 + detail::width_of(last);  // five in eight bits
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
