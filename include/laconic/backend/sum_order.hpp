// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "laconic/core/contract.hpp"

/// The order of all sums, so that every backend finds the same bits: they are taken in stretches of 4096 summands. In a
/// stretch, summand i is added to partial sum i mod 32, in double; the 32 are then added in halves. Where there is more
/// than one stretch, their sums are the summands of a sum of the same kind, and so on: level upon level, in each of
/// which all stretches may be added at the same time.
///
/// Where no summand is negative, the relative error, to first order and beside that of the summands, is at most
/// (n/32 + 5) x 2^-53 for n <= 4096, and 132 x 2^-53 a level for more: two levels up to 2^24 summands, three up to
/// 2^36.
///
/// Sums in floats have the same order, but summands and partial sums of stretches are floats; the sums of the stretches
/// are added in double. Their relative error is at most (n/32 + 5) x 2^-24 and, for more than one stretch, 134 x 2^-24.
namespace laconic::detail {

inline constexpr std::size_t partial_sums = 32, stretch = 4096;

/// What join(s_i, s_j) makes of all s_j, of which there are a power of two, in s_0; it overwrites them. Each caller
/// names a type of its own: translation units compiled for different instruction sets share no kernel.
template <class Caller, class S, std::size_t n, class Join, std::size_t half = n / 2>
S join_in_halves(std::array<S, n>& s, Join join) {
    if constexpr (half == 0)
        return s[0];
    else {
        for (std::size_t j = 0; j < half; ++j) join(s[j], s[j + half]);
        return join_in_halves<Caller, S, n, Join, half / 2>(s, join);
    }
}
template <class Caller, class Sum, std::size_t n>
Sum add_in_halves(std::array<Sum, n>& s) {
    return join_in_halves<Caller>(s, [](Sum& a, Sum const& b) { a += b; });
}

/// The sum of n summands from `first`, where of_stretch(first, n) is that of n <= 4096. It is called in their order.
template <class F>
auto sum_in_order(std::size_t first, std::size_t n, F const& of_stretch) {
    if (n <= stretch) return of_stretch(first, n);
    std::size_t each = stretch;  // how many a summand of the highest level stands for
    while ((n - 1) / stretch >= each) each *= stretch;
    std::array<decltype(of_stretch(first, n)), partial_sums> s{};
    for (std::size_t i = 0, done = 0; done < n; ++i, done += each)
        s[i % partial_sums] += sum_in_order(first + done, std::min(each, n - done), of_stretch);
    return add_in_halves<F>(s);
}

}  // namespace laconic::detail
