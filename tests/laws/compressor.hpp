// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "laconic/any/compressor.hpp"
#include "laws/messages.hpp"

/// What every compressor promises, as functions that check it on a list of vectors. They take compressors behind
/// any_compressor, so that they are compiled once, in compressor.cpp.
namespace laws {

template <class T>
using any = laconic::any_compressor<T>;
template <class T>
using same = std::type_identity_t<T>;  // deduced from another argument

/// One vector, one key: the message is pure, has one spelling, is read back whole, and is linear where it is added.
template <class T>
void says_what_it_says(same<any<T>> const& c, std::vector<T> const& x, std::vector<T> const& other, key from);

/// says_what_it_says for all the vectors above, each after a message about the next.
template <class T>
void is_a_pure_function(any<T> const& c);
template <class C>
void is_a_pure_function_with_one_spelling(C const& c) {
    if constexpr (laconic::Compressor<C, double>) is_a_pure_function<double>(c);
    if constexpr (laconic::Compressor<C, float>) is_a_pure_function<float>(c);
}

/// Vectors for the inequalities of the theory: small ones from papers, worst cases, and random ones.
template <class T>
std::vector<std::vector<T>> theory_vectors() {
    std::vector<T> geometric(10), worst(16, T(0.2)), one_hot(9, T(0));
    for (int i = 0; i < 10; ++i) geometric[static_cast<std::size_t>(i)] = std::ldexp(T(1), -i);
    worst[3] = -1;
    one_hot[4] = -5;
    return {{1},
            {-3},
            {3, 4},
            {1, 2, 2},
            {3, 1, 1, 1, 1},
            {T(4) / 3, T(-8) / 3, T(1) / 3},
            std::vector<T>(16, T(-1.5)),
            worst,
            one_hot,
            geometric,
            noise<T>(12, 1),
            noise<T>(20, 2, 3)};
}

/// What n messages about x say on average, under the keys seed.child(0), ..., seed.child(n - 1).
struct moments {
    std::vector<double> mean, variance;  // of each coordinate
    double largest = 0;                  // magnitude that was ever said
    double error = 0, error_variance = 0;
    double nonzeros = 0, nonzeros_variance = 0;
    int n = 0;
};

template <class T>
moments moments_of(same<any<T>> const& c, std::vector<T> const& x, int n, key seed);

template <class T>
double energy(std::vector<T> const& x) {
    double s = 0;
    for (T const v : x) s += static_cast<double>(v) * static_cast<double>(v);
    return s;
}

inline constexpr int trials = 4000;

/// What a sum of a few T, or a mean of thousands of doubles, may be off by.
template <class T>
inline constexpr double rounding = 8 * static_cast<double>(std::numeric_limits<T>::epsilon()) + 1e-12;

/// E C(x) = x, coordinate by coordinate to 5 sigma. The variance of a coordinate is the sampled one, or, where that saw
/// too few events, the bound mean x range.
template <class T>
moments has_mean(same<any<T>> const& c, std::vector<T> const& x, key seed, int n = trials);

/// The same, and E|C(x) - x|^2 <= omega |x|^2 to 5 sigma.
template <class T>
void is_unbiased_about(same<any<T>> const& c, std::vector<T> const& x, key seed, int n = trials);

/// Exact moments of a rounding that is unbiased (which is_unbiased checks) and takes at most two values, low and high,
/// at each coordinate: it is high with probability (x - low) / (high - low), so its variance is (high - x)(x - low).
struct exact_moments {
    double variance = 0, nonzeros = 0;
};
template <class T>
exact_moments moments_by_values(same<any<T>> const& c, std::vector<T> const& x, int keys = 2000);

/// is_unbiased_about for all the vectors of the theory.
template <class T>
void is_unbiased_for_all(any<T> const& c, std::uint64_t seed, int n);
template <class C>
void is_unbiased(C const& c, int n = trials) {
    is_unbiased_for_all<double>(c, 1000, n);
    is_unbiased_for_all<float>(c, 1100, n);
}

/// E|C(x) - x|^2 <= (1 - delta) |x|^2 with delta in (0, 1]; exactly where nothing is drawn (n = 1), else to 5 sigma.
template <class T>
void is_contractive_for_all(any<T> const& c, std::uint64_t seed, int n);
template <class C>
void is_contractive(C const& c, int n = 1) {
    is_contractive_for_all<double>(c, 2000, n);
    is_contractive_for_all<float>(c, 3000, n);
}

/// Every truncation, every flipped bit, a byte too many. Returns how many of the changed messages were accepted.
template <class T>
std::size_t survives_small_changes(same<any<T>> const& c, std::vector<T> const& x, key from);

}  // namespace laws
