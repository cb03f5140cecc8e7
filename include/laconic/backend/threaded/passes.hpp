// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

#include "laconic/backend/threaded/parts.hpp"

/// Passes over vectors: each kernel is described at its form for the host.
namespace laconic::detail {

// Terms in order, from coordinate `first` on.
template <class Terms>
struct terms_of_part {
    Terms all;
    std::size_t first, count;
    static constexpr bool in_order = true;
    constexpr std::size_t size() const { return count; }
    constexpr auto operator[](std::size_t j) const { return all[first + j]; }  // whose coordinate is not asked for
    constexpr auto from(std::size_t j) const requires InBuckets<Terms> {
        auto here = all.from(first + j);
        std::size_t const n = std::min<std::size_t>(here.size(), count - j);
        if constexpr (requires { here.count = n; })  // terms of their own type are added faster
            return here.count = n, here;
        else
            return terms_of_part<decltype(here)>{here, 0, n};
    }
};

// So many numbers are whole buckets, and whole words of signs. No vector has 2^48 numbers: all buckets beyond are one.
inline std::size_t unit_of(std::size_t bucket) { return std::lcm(std::min(bucket, std::size_t{1} << 48), least_unit); }

}  // namespace laconic::detail

namespace laconic::kernels {

template <class B, class E>
void copy(threaded<B>& on, std::span<E const> from, std::span<E> to) {
    LACONIC_EXPECTS(from.size() == to.size());
    detail::in_parts(on, to.size(), detail::least_unit, [&](B& own, auto p) { copy(own, p.of(from), p.of(to)); });
}
template <class B, class E>
void fill(threaded<B>& on, std::span<E> to, E value) {
    detail::in_parts(on, to.size(), detail::least_unit, [&](B& own, auto p) { fill(own, p.of(to), value); });
}

// Sums of vectors, number by number.

template <class B, Scalar T>
void add_scaled(threaded<B>& on, T a, std::span<T const> x, std::span<T> y) {
    detail::in_parts(on, y.size(), detail::least_unit, [&](B& own, auto p) { add_scaled(own, a, p.of(x), p.of(y)); });
}
template <class B, class F>
void at_each_index(threaded<B>& on, std::size_t n, F f) {
    detail::in_parts(on, n, detail::least_unit, [&](B& own, auto p) { at_each_index(own, p.count, f, p.first); });
}
template <class B, Scalar T>
void multiply(threaded<B>& on, T a, std::span<T> x) {
    detail::in_parts(on, x.size(), detail::least_unit, [&](B& own, auto p) { multiply(own, a, p.of(x)); });
}
template <class B, Scalar T>
bool compensate(threaded<B>& on, T a, std::span<T const> g, std::span<T const> h, T b, std::span<T const> e,
                std::span<T> out) {
    return detail::all_parts(on, out.size(), detail::least_unit, [&](B& own, auto p) {
        return compensate(own, a, p.of(g), p.of(h), b, p.of(e), p.of(out));
    });
}
template <class B, Scalar T>
void complete_and_remember(threaded<B>& on, std::span<T> m, T a, std::span<T> h) {
    detail::in_parts(on, m.size(), detail::least_unit,
                     [&](B& own, auto p) { complete_and_remember(own, p.of(m), a, p.of(h)); });
}
template <class B, Scalar T, class Terms>
void add_terms(threaded<B>& on, std::span<T> out, T w, Terms terms) {
    if constexpr (Terms::in_order && !requires { on.kernels(); })  // which know whole messages alone
        if (on.splits(out.size()))
            return detail::in_parts(on, out.size(), detail::least_unit, [&](B& own, auto p) {
                add_terms(own, p.of(out), w, detail::terms_of_part<Terms>{terms, p.first, p.count});
            });
    add_terms(static_cast<B&>(on), out, w, terms);
}

// Numbers about a whole vector.

template <class B, Scalar T>
double sum_of_magnitudes(threaded<B>& on, std::span<T const> x) {
    return detail::sum_in_parts(on, x.size(), [&](B& own, auto p) { return sum_of_magnitudes(own, p.of(x)); });
}
template <class B, Scalar T>
double sum_of_squares(threaded<B>& on, std::span<T const> x) {
    return detail::sum_in_parts(on, x.size(), [&](B& own, auto p) { return sum_of_squares(own, p.of(x)); });
}
template <class B>
double sum_of_squares_in_floats(threaded<B>& on, std::span<float const> x) {
    return detail::sum_in_parts(on, x.size(), [&](B& own, auto p) { return sum_of_squares_in_floats(own, p.of(x)); });
}
template <class B, Scalar T>
double sum_of_squares(threaded<B>& on, std::span<T const> x, double scale, double centre = 0) {
    return detail::sum_in_parts(on, x.size(),
                                [&](B& own, auto p) { return sum_of_squares(own, p.of(x), scale, centre); });
}
template <class B, Scalar T>
double sum_of_numbers(threaded<B>& on, std::span<T const> x, double scale, double centre) {
    return detail::sum_in_parts(on, x.size(),
                                [&](B& own, auto p) { return sum_of_numbers(own, p.of(x), scale, centre); });
}
template <class B, Scalar T>
double rounding_variance(threaded<B>& on, std::span<T const> x, T step) {
    return detail::sum_in_parts(on, x.size(), [&](B& own, auto p) { return rounding_variance(own, p.of(x), step); });
}
template <class B, Scalar T>
T largest_magnitude(threaded<B>& on, std::span<T const> x) {
    auto const each = on.between().template scratch<T>(detail::scratch_for::sums, on.threads());
    std::fill(each.begin(), each.end(), T(0));
    detail::in_parts(on, x.size(), detail::least_unit,
                     [&](B& own, auto p) { each[p.number] = largest_magnitude(own, p.of(x)); });
    return std::accumulate(each.begin(), each.end(), T(0),
                           [](T a, T b) { return std::isnan(a) || std::isnan(b) ? a + b : std::max(a, b); });
}
template <class B, Scalar T>
std::size_t first_non_finite(threaded<B>& on, std::span<T const> x) {
    std::atomic<std::size_t> first = x.size();
    detail::in_parts(on, x.size(), detail::least_unit, [&](B& own, auto p) {
        auto const here = first_non_finite(own, p.of(x));
        if (here == p.count) return;
        for (auto least = first.load(); p.first + here < least && !first.compare_exchange_weak(least, p.first + here);)
            ;
    });
    return first;
}

// Codes.

template <class B, Scalar T>
void round_to_powers(threaded<B>& on, std::span<T const> x, key from, std::uint64_t first,
                     std::span<std::uint16_t> codes) {
    detail::in_parts(on, x.size(), detail::least_unit,
                     [&](B& own, auto p) { round_to_powers(own, p.of(x), from, first + p.first, p.of(codes)); });
}
template <class B, Scalar T>
void round_to_short(threaded<B>& on, std::span<T const> x, short_layout f, std::span<std::uint16_t> codes) {
    detail::in_parts(on, x.size(), detail::least_unit,
                     [&](B& own, auto p) { round_to_short(own, p.of(x), f, p.of(codes)); });
}
template <class B, Scalar T>
void round_to_short(threaded<B>& on, std::span<T const> x, short_layout f, key from, std::uint64_t first,
                    std::span<std::uint16_t> codes) {
    detail::in_parts(on, x.size(), detail::least_unit,
                     [&](B& own, auto p) { round_to_short(own, p.of(x), f, from, first + p.first, p.of(codes)); });
}

template <class B, Scalar T>
void pack_signs(threaded<B>& on, std::span<T const> x, std::span<std::uint64_t> words) {
    detail::in_parts(on, x.size(), detail::least_unit,
                     [&](B& own, auto p) { pack_signs(own, p.of(x), p.of(words, 64)); });
}
template <class B, class Code>
bool unpack_codes(threaded<B>& on, std::span<std::byte const> bytes, code_words f, std::span<Code> codes) {
    return detail::all_parts(on, codes.size(), detail::least_unit, [&](B& own, auto p) {
        return unpack_codes(own, bytes.subspan(p.first / 8 * f.width), f, p.of(codes));
    });
}

// Codes in buckets. One bucket of all numbers has one part, unless it is said otherwise.

template <class B, Scalar T, LevelCode Code>
bool round_buckets_to_levels(threaded<B>& on, std::span<T const> x, std::size_t bucket, p_norm norm, int levels,
                             key from, std::span<T> steps, std::span<Code> codes) {
    return detail::all_parts(on, x.size(), detail::unit_of(bucket), [&](B& own, auto p) {
        return round_buckets_to_levels(own, p.of(x), bucket, norm, levels, from, p.of(steps, bucket), p.of(codes),
                                       p.first);
    });
}
template <class B, Scalar T>
bool round_buckets_to_halvings(threaded<B>& on, std::span<T const> x, std::size_t bucket, p_norm norm, int levels,
                               key from, std::span<T> norms, std::span<std::int16_t> codes) {
    return detail::all_parts(on, x.size(), detail::unit_of(bucket), [&](B& own, auto p) {
        return round_buckets_to_halvings(own, p.of(x), bucket, norm, levels, from, p.of(norms, bucket), p.of(codes),
                                         p.first);
    });
}
template <class B, Scalar T>
bool round_buckets_to_range(threaded<B>& on, std::span<T const> x, std::size_t bucket, rounding how, int most, key from,
                            std::span<T> least, std::span<T> steps, std::span<std::uint8_t> codes) {
    return detail::all_parts(on, x.size(), detail::unit_of(bucket), [&](B& own, auto p) {
        return round_buckets_to_range(own, p.of(x), bucket, how, most, from, p.of(least, bucket), p.of(steps, bucket),
                                      p.of(codes), p.first);
    });
}
template <class B, Scalar T>
bool round_blocks_to_short(threaded<B>& on, std::span<T const> x, block_layout f, rounding how, T shared, key from,
                           std::span<T> scales, std::span<std::uint16_t> codes) {
    return detail::all_parts(on, x.size(), detail::unit_of(f.block), [&](B& own, auto p) {
        return round_blocks_to_short(own, p.of(x), f, how, shared, from, p.of(scales, f.block), p.of(codes), p.first);
    });
}
template <class B, Scalar T>
bool pack_signs_and_means(threaded<B>& on, std::span<T const> x, std::size_t bucket, std::span<T> means,
                          std::span<std::uint64_t> words) {
    if (bucket < x.size() || !on.splits(x.size()))
        return detail::all_parts(on, x.size(), detail::unit_of(bucket), [&](B& own, auto p) {
            return pack_signs_and_means(own, p.of(x), bucket, p.of(means, bucket), p.of(words, 64));
        });
    double const sum = detail::sum_in_parts(on, x.size(), [&](B& own, auto p) {
        pack_signs(own, p.of(x), p.of(words, 64));
        return sum_of_magnitudes(own, p.of(x));
    });
    means[0] = static_cast<T>(sum / static_cast<double>(x.size()));
    return std::isfinite(means[0]);
}
template <class B, Scalar T>
bool pack_signs_and_two_means(threaded<B>& on, std::span<T const> x, std::size_t bucket, std::span<T> below,
                              std::span<T> above, std::span<std::uint64_t> words) {
    return detail::all_parts(on, x.size(), detail::unit_of(bucket), [&](B& own, auto p) {
        return pack_signs_and_two_means(own, p.of(x), bucket, p.of(below, bucket), p.of(above, bucket),
                                        p.of(words, 64));
    });
}
template <class B, Scalar T>
void rotate_blocks(threaded<B>& on, std::size_t block, matrix_is how, key from, std::uint64_t first, std::span<T> y) {
    detail::in_parts(on, y.size(), detail::unit_of(block),
                     [&](B& own, auto p) { rotate_blocks(own, block, how, from, first + p.first, p.of(y)); });
}
template <class B, Scalar T>
void damp_steps(threaded<B>& on, std::span<T const> x, std::size_t bucket, std::span<T> steps) {
    detail::in_parts(on, x.size(), detail::unit_of(bucket),
                     [&](B& own, auto p) { damp_steps(own, p.of(x), bucket, p.of(steps, bucket)); });
}

}  // namespace laconic::kernels
