// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "laconic/compress/sign.hpp"
#include "laconic/compress/top_blocks.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/wire/stream.hpp"

/// Compressors whose level can be chosen: how many levels there are, what each would keep of a vector, and what each
/// would take to say.
namespace laconic {

/// What best_level needs to know of a compressor C, as static members; the levels are 1 .. count(c, d):
///   count(c, d)               for vectors of d numbers; 0 only where d is;
///   at(c, level)              c at that level;
///   family(c)                 how c is written without its level;
///   bits<T>(c, level, d)      of its message, as papers count them (spelled in full, positions in ceil(log2 d) bits);
///   kept(on, c, x, room, q)   sets q[level - 1] to the share of |x|^2 that it keeps, 1 - E|C(x) - x|^2 / |x|^2. x is
///                             finite and not zero; room is memory that lasts from call to call.
/// Specialize it for a compressor of your own.
template <class C>
struct levels;

/// Such a compressor.
template <class C, class T = double, class B = host>
concept Levelled = requires(C const& c, std::size_t n, B& on, std::span<T const> x, std::vector<T>& room,
                            std::span<double> q) {
    { levels<C>::count(c, n) } -> std::same_as<std::size_t>;
    { levels<C>::at(c, n) } -> std::same_as<C>;
    { levels<C>::family(c) } -> std::same_as<std::string>;
    { levels<C>::template bits<T>(c, n, n) } -> std::same_as<double>;
    levels<C>::kept(on, c, x, room, q);
};

/// k, by the largest magnitudes: what they have of the energy.
template <>
struct levels<top_k<>> {
    static std::size_t count(top_k<> const&, std::size_t d) { return d; }
    static top_k<> at(top_k<>, std::size_t level) { return {level}; }
    static std::string family(top_k<> const&) { return "top_k"; }
    template <Scalar T>
    static double bits(top_k<> const&, std::size_t level, std::size_t d) {
        return static_cast<double>(level * (width_of(d) + 8 * sizeof(T)));
    }
    template <class B, Scalar T>
    static void kept(B& on, top_k<> const&, std::span<T const> x, std::vector<T>& room, std::span<double> q) {
        sort_magnitudes(on, x, room);
        double const largest = static_cast<double>(room[0]);  // its square may not be finite
        double sum = 0;
        for (std::size_t j = 0; j < x.size(); ++j) {
            double const v = static_cast<double>(room[j]) / largest;
            q[j] = sum += v * v;
        }
        for (double& v : q) v /= sum;
    }
};

/// k, where the largest are said as signs times their mean magnitude: |x_k|_1^2 / (k |x|^2), which is not unimodal.
template <>
struct levels<top_k<sign>> {
    using type = top_k<sign>;
    static std::size_t count(type const&, std::size_t d) { return d; }
    static type at(type c, std::size_t level) {
        c.k = level;
        return c;
    }
    static std::string family(type const& c) { return "top_k | " + to_string(c.rest); }
    template <Scalar T>
    static double bits(type const& c, std::size_t level, std::size_t d) {
        std::size_t const scales = c.rest.bucket == 0 ? 1 : (level + c.rest.bucket - 1) / c.rest.bucket;
        return static_cast<double>(scales * 8 * sizeof(T) + level * (width_of(d) + 1));
    }
    template <class B, Scalar T>
    static void kept(B& on, type const&, std::span<T const> x, std::vector<T>& room, std::span<double> q) {
        sort_magnitudes(on, x, room);
        double const largest = static_cast<double>(room[0]);
        double sum = 0, squares = 0;
        for (std::size_t j = 0; j < x.size(); ++j) {
            double const v = static_cast<double>(room[j]) / largest;
            sum += v;
            squares += v * v;
            q[j] = sum * sum / static_cast<double>(j + 1);
        }
        for (double& v : q) v /= squares;
    }
};

/// k blocks, by their energies.
template <>
struct levels<top_blocks<>> {
    using type = top_blocks<>;
    static std::size_t count(type const& c, std::size_t d) { return detail::blocks_in(d, c.block); }
    static type at(type c, std::size_t level) {
        c.k = level;
        return c;
    }
    static std::string family(type const& c) { return "top_blocks(block=" + std::to_string(c.block) + ")"; }
    template <Scalar T>
    static double bits(type const& c, std::size_t level, std::size_t d) {
        std::size_t const block = std::min(c.block, d);
        return static_cast<double>(level * (width_of(count(c, d)) + block * 8 * sizeof(T)));
    }
    template <class B, Scalar T>
    static void kept(B& on, type const& c, std::span<T const> x, std::vector<T>&, std::span<double> q) {
        double const largest = static_cast<double>(largest_magnitude(on, x));
        for (std::size_t b = 0; b < q.size(); ++b) {
            auto const part = x.subspan(b * c.block, std::min(c.block, x.size() - b * c.block));
            if constexpr (sizeof(T) == 8)
                q[b] = sum_of_squares(on, part, largest);  // the squares as such may not be finite
            else
                q[b] = sum_of_squares(on, part);
        }
        std::sort(q.begin(), q.end(), std::greater<>{});
        double sum = 0;
        for (double& v : q) v = sum += v;
        for (double& v : q) v /= sum;
    }
};

}  // namespace laconic
