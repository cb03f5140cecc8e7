// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>

#include "laconic/backend/host/memory.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/view.hpp"

/// Which coordinates of a vector travel. All write ascending coordinates.
namespace laconic {

namespace detail {

// |x| as an integer with the same order; every NaN is above infinity.
inline std::uint32_t magnitude_bits(float x) { return std::bit_cast<std::uint32_t>(x) & 0x7fffffffu; }
inline std::uint64_t magnitude_bits(double x) { return std::bit_cast<std::uint64_t>(x) & 0x7fffffffffffffffu; }

}  // namespace detail

/// The k coordinates with the largest |x_i|, of equal ones the lower coordinate first. k <= x.size() < 2^32.
/// A copy of x in scratch memory, one selection in it, one pass.
template <class A, Scalar T>
void select_largest(basic_host<A>& on, std::span<T const> x, std::size_t k, std::vector<coordinate>& out) {
    LACONIC_EXPECTS(k <= x.size() && x.size() <= largest_dimension);
    out.resize(k);
    if (k == 0) return;
    using bits = decltype(detail::magnitude_bits(T{}));
    auto const magnitudes = on.template scratch<bits>(0, x.size());
    for (std::size_t i = 0; i < x.size(); ++i) magnitudes[i] = detail::magnitude_bits(x[i]);
    auto const kth = magnitudes.begin() + static_cast<std::ptrdiff_t>(k - 1);
    std::nth_element(magnitudes.begin(), kth, magnitudes.end(), std::greater<>{});
    bits const threshold = *kth;
    auto equal = static_cast<std::size_t>(std::count(magnitudes.begin(), kth + 1, threshold));
    std::size_t n = 0;
    for (std::size_t i = 0; n < k; ++i) {
        bits const m = detail::magnitude_bits(x[i]);
        bool const chosen = m > threshold || (m == threshold && equal > 0);
        equal -= m == threshold && equal > 0;
        if (chosen) out[n++] = static_cast<coordinate>(i);
    }
}

/// The coordinates with |x_i| > bound; a NaN is never above. One pass.
template <class A, Scalar T>
void select_above(basic_host<A>&, std::span<T const> x, T bound, std::vector<coordinate>& out) {
    using pack = simd::pack<T, A>;
    out.clear();
    out.reserve(x.size());  // once: a later support may be larger
    auto const bounds = pack::all(bound);
    std::size_t i = 0;
    for (; i + pack::width <= x.size(); i += pack::width)
        if (any_above(magnitude(pack::load(x.data() + i)), bounds))  // most vectors hold nothing that is above
            for (std::size_t j = i; j < i + pack::width; ++j)
                if (std::abs(x[j]) > bound) out.push_back(static_cast<coordinate>(j));
    for (; i < x.size(); ++i)
        if (std::abs(x[i]) > bound) out.push_back(static_cast<coordinate>(i));
}

/// The coordinates with |x_i| > bounds_i; bounds is as long as x. One pass over both.
template <class A, Scalar T>
void select_above(basic_host<A>&, std::span<T const> x, std::span<T const> bounds, std::vector<coordinate>& out) {
    LACONIC_EXPECTS(bounds.size() == x.size());
    using pack = simd::pack<T, A>;
    out.clear();
    out.reserve(x.size());  // once: a later support may be larger
    std::size_t i = 0;
    for (; i + pack::width <= x.size(); i += pack::width)
        if (any_above(magnitude(pack::load(x.data() + i)), pack::load(bounds.data() + i)))
            for (std::size_t j = i; j < i + pack::width; ++j)
                if (std::abs(x[j]) > bounds[j]) out.push_back(static_cast<coordinate>(j));
    for (; i < x.size(); ++i)
        if (std::abs(x[i]) > bounds[i]) out.push_back(static_cast<coordinate>(i));
}

/// out_j = scale x_{at_j}.
template <class A, Scalar T>
void gather(basic_host<A>&, std::span<T const> x, std::span<coordinate const> at, T scale, std::vector<T>& out) {
    out.resize(at.size());
    for (std::size_t j = 0; j < at.size(); ++j) out[j] = scale * x[at[j]];
}

}  // namespace laconic
