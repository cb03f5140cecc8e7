// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include "laconic/backend/host/memory.hpp"
#include "laconic/backend/sum_order.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/view.hpp"

/// Numbers about a whole vector, each in one pass. Sums are in double, in the order of sum_order.hpp.
namespace laconic {

namespace detail {

// Adds the summands of x to partial sums, by vectors: apply maps a vector of elements, as doubles, to one of summands,
// settled where they are rounded products.
// All but the last of several calls have a multiple of 16 elements.
template <class A, Scalar T, class F>
void add_summands(std::array<double, partial_sums>& s, std::span<T const> x, F apply) {
    using pack = simd::pack<double, A>;
    constexpr std::size_t packs = partial_sums / pack::width;
    auto const load = [](T const* p) {
        if constexpr (std::same_as<T, double>)
            return pack::load(p);
        else
            return pack::widened(p);
    };
    std::size_t i = 0;
    // A pack expansion, so that every compiler keeps the sums in registers.
    [&]<std::size_t... P>(std::index_sequence<P...>) {
        std::array<pack, packs> sums{pack::load(s.data() + P * pack::width)...};
        for (; i + partial_sums <= x.size(); i += partial_sums)
            ((sums[P] = sums[P] + apply(load(x.data() + i + P * pack::width))), ...);
        (sums[P].store(s.data() + P * pack::width), ...);
    }
    (std::make_index_sequence<packs>{});
    if (i < x.size()) {  // the tail goes through the same vectors, padded with zeros: the same rounding
        std::array<double, partial_sums> tail{};
        for (std::size_t j = 0; i + j < x.size(); ++j) tail[j] = static_cast<double>(x[i + j]);
        for (std::size_t p = 0; p < packs; ++p) {
            std::array<double, pack::width> summand;
            apply(pack::load(tail.data() + p * pack::width)).store(summand.data());
            for (std::size_t j = 0; j < pack::width; ++j) s[p * pack::width + j] += summand[j];
        }
    }
}

template <class A, Scalar T, class F>
double ordered_sum(std::span<T const> x, F apply) {
    return sum_in_order(0, x.size(), [x, apply](std::size_t first, std::size_t n) {
        std::array<double, partial_sums> s{};
        add_summands<A>(s, x.subspan(first, n), apply);
        return add_in_halves<A>(s);
    });
}

}  // namespace detail

/// sum |x_i|; 0 for an empty vector.
template <class A, Scalar T>
double sum_of_magnitudes(basic_host<A>&, std::span<T const> x) {
    return detail::ordered_sum<A>(x, [](auto v) { return magnitude(v); });
}

/// sum x_i^2; infinite where that is above the largest double.
template <class A, Scalar T>
double sum_of_squares(basic_host<A>&, std::span<T const> x) {
    return detail::ordered_sum<A>(x, [](auto v) {
        if constexpr (sizeof(T) == 4)
            return v * v;  // a float's square is exact: to fuse it with the sum makes no difference
        else
            return settled(v * v);
    });
}

/// sum (x_i / scale)^2, for vectors whose squares are out of a double's range. scale > 0.
template <class A>
double sum_of_squares(basic_host<A>&, std::span<double const> x, double scale) {
    return detail::ordered_sum<A>(x, [scale](auto v) {
        auto const ratio = v / decltype(v)::all(scale);
        return settled(ratio * ratio);
    });
}

/// max |x_i|; 0 for an empty vector, NaN where a number of x is not finite.
template <class A, Scalar T>
T largest_magnitude(basic_host<A>&, std::span<T const> x) {
    using pack = simd::pack<T, A>;
    std::size_t i = 0;
    auto best = pack::all(T(0)), odd = best;  // v - v is 0, or NaN where v is not finite
    for (; i + pack::width <= x.size(); i += pack::width) {
        auto const v = pack::load(x.data() + i);
        best = larger(best, magnitude(v));
        odd = odd + (v - v);
    }
    std::array<T, pack::width> lanes, odds;
    best.store(lanes.data());
    odd.store(odds.data());
    T result = 0, not_finite = 0;
    for (T const v : lanes) result = v > result ? v : result;
    for (T const v : odds) not_finite += v;
    for (; i < x.size(); ++i) {
        result = std::abs(x[i]) > result ? std::abs(x[i]) : result;
        not_finite += x[i] - x[i];
    }
    return result + not_finite;
}

/// The least and the largest number, zeros as +0. x has a number and no NaN.
template <class A, Scalar T>
std::pair<T, T> least_and_largest(basic_host<A>&, std::span<T const> x) {
    LACONIC_EXPECTS(!x.empty());
    using pack = simd::pack<T, A>;
    auto const zero = pack::all(T(0));
    auto below = pack::all(-x[0]), above = pack::all(x[0]);  // below: the largest of all -x_i
    std::size_t i = 0;
    for (; i + pack::width <= x.size(); i += pack::width) {
        auto const v = pack::load(x.data() + i);
        below = larger(below, zero - v);
        above = larger(above, v);
    }
    std::array<T, pack::width> negated, lanes;
    below.store(negated.data());
    above.store(lanes.data());
    T least = x[0], largest = x[0];
    for (std::size_t j = 0; j < pack::width; ++j) {
        least = std::min(least, -negated[j]);
        largest = std::max(largest, lanes[j]);
    }
    for (; i < x.size(); ++i) {
        least = std::min(least, x[i]);
        largest = std::max(largest, x[i]);
    }
    return {least + T(0), largest + T(0)};  // -0 + 0 is +0
}

/// The sums of |x_i| over all x_i < 0, and over the others.
template <class A, Scalar T>
std::pair<double, double> sums_by_sign(basic_host<A>&, std::span<T const> x) {
    return {detail::ordered_sum<A>(x, [](auto v) { return larger(decltype(v)::all(0.0), decltype(v)::all(0.0) - v); }),
            detail::ordered_sum<A>(x, [](auto v) { return larger(decltype(v)::all(0.0), v); })};
}

/// How many x_i < 0 there are.
template <class A, Scalar T>
std::size_t count_negative(basic_host<A>&, std::span<T const> x) {
    std::size_t n = 0;
    for (T const v : x) n += v < 0;
    return n;
}

/// The first coordinate that is NaN or infinite, x.size() where there is none.
template <class A, Scalar T>
std::size_t first_non_finite(basic_host<A>&, std::span<T const> x) {
    using pack = simd::pack<T, A>;
    auto const limit = pack::all(std::numeric_limits<T>::max());
    std::size_t i = 0;
    while (i + pack::width <= x.size() && all_at_most(magnitude(pack::load(x.data() + i)), limit)) i += pack::width;
    while (i < x.size() && std::isfinite(x[i])) ++i;
    return i;
}

}  // namespace laconic
