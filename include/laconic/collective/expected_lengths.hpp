// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "laconic/wire/stream.hpp"
#include "laconic/wire/support.hpp"

/// How long the library's own lists of terms are, on the average over coordinates that are drawn evenly and apart from
/// each other. All counts are real numbers of at least 0.
namespace laconic::detail {

/// How many of d coordinates any of m ranks has, each of which has k of them: d (1 - (1 - k / d)^m).
inline double expected_union(double d, double k, double m) {
    if (!(d > 0)) return 0;
    return k >= d ? d : -d * std::expm1(m * std::log1p(-k / d));
}

/// The mean of min(X, most), where X is how many of k coordinates out of d fall into a part of `part` of them: of a
/// normal distribution with the mean and the variance of X.
inline double expected_kept(double d, double k, double part, double most) {
    if (!(d > 0 && k > 0 && part > 0)) return 0;
    double const mean = k * part / d, deviation = std::sqrt(std::max(0.0, mean * (1 - part / d) * (1 - k / d)));
    if (deviation < 1e-9 * mean) return std::min(mean, most);
    double const z = (most - mean) / deviation, below = 0.5 * std::erfc(-z / std::sqrt(2.0));
    double const density = std::exp(-0.5 * z * z) / std::sqrt(2 * 3.14159265358979323846);
    return std::min(most + (mean - most) * below - deviation * density, most);
}

// The width of a number of up to n.
inline double width_of_real(double n) { return n < 1 ? 0 : std::floor(std::log2(n)) + 1; }

// Of `count` numbers n >= 0 with P(n >= j) = q^j, by the best Rice code: n is at least i 2^r with q^(i 2^r).
inline double rice_bits(double count, double q) {
    double least = std::numeric_limits<double>::infinity();
    for (unsigned r = 0; r <= largest_rice_parameter; ++r) {
        double const tail = std::pow(q, std::exp2(r));
        least = std::min(least, 1 + r + (tail < 1 ? tail / (1 - tail) : std::numeric_limits<double>::infinity()));
    }
    return rice_parameter_width + count * least;
}

// The same numbers in groups, each as wide as its largest.
inline double packed_bits(double count, double q) {
    double const group = std::min(count, double{gaps_in_group});
    double width = 0;
    for (unsigned w = 0; w < largest_rice_parameter; ++w) width += 1 - std::pow(1 - std::pow(q, std::exp2(w)), group);
    return std::ceil(count / group) * gap_width_width + count * width;
}

/// Bits of n of `length` coordinates: of the code that is shortest on the average, and its name.
inline double expected_support_bits(double length, double n, position_code how = position_code::smallest) {
    if (!(n > 0 && n < length)) return 0;
    double const q = 1 - n / length;
    double bits = std::min({n * detail::width_of_real(length - 1), length, detail::packed_bits(n, q)});
    if (how == position_code::smallest) {
        bits = std::min(bits, detail::rice_bits(n, q));
        if (double const runs = std::max(1.0, n * q); 2 * runs <= n)
            bits = std::min(bits, detail::rice_bits(runs, q) + detail::rice_bits(runs, 1 - q));
    }
    return detail::support_code_width + bits;
}

/// Bits of a sparse_sum that has n of `length` terms, of so many bits a value.
inline double expected_list_bits(double length, double n, double bits_per_value = 32,
                                 position_code how = position_code::smallest) {
    return detail::width_of_real(length) + expected_support_bits(length, n, how) + n * bits_per_value;
}

}  // namespace laconic::detail
