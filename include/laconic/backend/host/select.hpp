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
#include <vector>

#include "laconic/backend/host/memory.hpp"
#include "laconic/backend/host/reduce.hpp"
#include "laconic/backend/host/select_largest.hpp"
#include "laconic/backend/magnitude_bins.hpp"
#include "laconic/backend/unit_scale.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/key.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/view.hpp"

/// Which coordinates of a vector travel. All write ascending coordinates.
namespace laconic {

/// The coordinates with |x_i| > bound; a NaN is always above, so that it is not lost. One pass.
template <class A, Scalar T>
void select_above(basic_host<A>&, std::span<T const> x, T bound, std::vector<coordinate>& out) {
    using pack = simd::pack<T, A>;
    out.clear();
    out.reserve(x.size());  // once: a later support may be larger
    auto const bounds = pack::all(bound);
    std::size_t i = 0;
    for (; i + pack::width <= x.size(); i += pack::width)
        if (!all_at_most(magnitude(pack::load(x.data() + i)), bounds))  // most vectors hold nothing that is above
            for (std::size_t j = i; j < i + pack::width; ++j)
                if (!(std::abs(x[j]) <= bound)) out.push_back(static_cast<coordinate>(j));
    for (; i < x.size(); ++i)
        if (!(std::abs(x[i]) <= bound)) out.push_back(static_cast<coordinate>(i));
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
        if (!all_at_most(magnitude(pack::load(x.data() + i)), pack::load(bounds.data() + i)))
            for (std::size_t j = i; j < i + pack::width; ++j)
                if (!(std::abs(x[j]) <= bounds[j])) out.push_back(static_cast<coordinate>(j));
    for (; i < x.size(); ++i)
        if (!(std::abs(x[i]) <= bounds[i])) out.push_back(static_cast<coordinate>(i));
}

namespace detail {

// How many of the magnitudes fall into each of 2^width bins: those whose bits from shift + width on are `prefix`, by
// the `width` bits from `shift` on.
template <Scalar T>
void count_magnitudes(std::span<T const> x, int shift, int width, std::uint64_t prefix, std::span<std::uint32_t> bins) {
    std::fill(bins.begin(), bins.end(), 0u);
    for (T const v : x) {
        auto const g = std::uint64_t{magnitude_bits(v)} >> shift;
        if (g >> width == prefix) ++bins[g & (bins.size() - 1)];
    }
}

}  // namespace detail

/// The n coordinates with the largest |x_i|, of equal ones the lower coordinate first, for an n between least and most
/// that is found without sorting: as many as are at or above the lowest threshold that leaves no more than `most`, on
/// a grid of magnitudes that keeps 11 bits of their binary form (exponent first), or 22, 33, ... where that leaves
/// fewer than `least`; k where no threshold does. least <= k <= most <= x.size() < 2^32. Two passes, or one more for
/// each further 11 bits.
template <class A, Scalar T>
void select_about(basic_host<A>& on, std::span<T const> x, std::size_t least, std::size_t k, std::size_t most,
                  std::vector<coordinate>& out) {
    LACONIC_EXPECTS(least <= k && k <= most && most <= x.size() && x.size() <= largest_dimension);
    out.reserve(x.size());  // once: a later support may be larger
    auto const bins = on.template scratch<std::uint32_t>(1, 2048);
    std::size_t n = 0;         // how many are at or above the threshold
    std::uint64_t prefix = 0;  // the bits that the magnitudes of the bin which overflows have in common
    for (int shift = std::numeric_limits<decltype(detail::magnitude_bits(T{}))>::digits - 12, width = 11;;) {
        detail::count_magnitudes(x, shift, width, prefix, bins.first(std::size_t{1} << width));
        std::size_t bin = std::size_t{1} << width;
        while (bin > 0 && n + bins[bin - 1] <= most) n += bins[--bin];
        std::uint64_t const threshold = (prefix << width) + bin;  // in units of 2^shift
        if (n >= least) {
            out.clear();
            for (std::size_t i = 0; i < x.size(); ++i)
                if (std::uint64_t{detail::magnitude_bits(x[i])} >> shift >= threshold)
                    out.push_back(static_cast<coordinate>(i));
            return;
        }
        if (shift == 0) return select_largest(on, x, k, out);
        prefix = threshold - 1;
        width = std::min(11, shift);
        shift -= width;
    }
}

/// |x_i|, the largest first. All finite. A copy of x and a sort of it.
template <class A, Scalar T>
void sort_magnitudes(basic_host<A>&, std::span<T const> x, std::vector<T>& out) {
    out.resize(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) out[i] = std::abs(x[i]);
    std::sort(out.begin(), out.end(), std::greater<>{});
}

/// How many |x_i| fall into each of the magnitude_bins below that of the largest, which is `largest`; those below all
/// counts are not counted. All finite, not all 0. One pass.
template <class A, Scalar T>
void count_by_magnitude(basic_host<A>&, std::span<T const> x, T largest, std::span<std::uint32_t> counts) {
    LACONIC_EXPECTS(x.size() <= largest_dimension);
    constexpr int shift = std::numeric_limits<T>::digits - 1 - magnitude_bins::width;
    T const scale = unit_scale(largest);  // so that none that counts is subnormal
    auto const top = detail::magnitude_bits(largest * scale) >> shift;
    std::fill(counts.begin(), counts.end(), 0u);
    for (T const v : x)
        if (auto const bin = top - (detail::magnitude_bits(v * scale) >> shift); bin < counts.size()) ++counts[bin];
}

/// Each coordinate with probability min(1, |x_i| / bound), independently: coordinate i is drawn iff uniform(i) x bound
/// is below |x_i|. bound >= 0; 0 takes all that are not 0. All finite. One pass.
template <class A, Scalar T>
void sample_in_proportion(basic_host<A>&, std::span<T const> x, T bound, key from, std::vector<coordinate>& out) {
    LACONIC_EXPECTS(bound >= 0 && x.size() <= largest_dimension);
    out.clear();
    out.reserve(x.size());  // once: a later support may be larger
    for (std::size_t i = 0; i < x.size(); ++i)
        if (from.uniform(i) * static_cast<double>(bound) < static_cast<double>(std::abs(x[i])))
            out.push_back(static_cast<coordinate>(i));
}

namespace detail {

template <class A, Scalar T>
bool any_nonzero(std::span<T const> x) {
    using pack = simd::pack<T, A>;
    auto const zeros = pack::all(T(0));
    std::size_t i = 0;
    for (; i + pack::width <= x.size(); i += pack::width)
        if (!all_at_most(magnitude(pack::load(x.data() + i)), zeros)) return true;
    return std::any_of(x.begin() + static_cast<std::ptrdiff_t>(i), x.end(), [](T v) { return v != 0; });
}

}  // namespace detail

/// The blocks of `block` consecutive coordinates (the last may be shorter) that hold a number other than 0; a NaN is
/// one. block >= 1. One pass, which leaves a block at its first such number.
template <class A, Scalar T>
void select_nonzero_blocks(basic_host<A>&, std::span<T const> x, std::size_t block, std::vector<coordinate>& out) {
    LACONIC_EXPECTS(block >= 1 && x.size() <= largest_dimension);
    out.clear();
    out.reserve(x.size() / block + 1);  // once: a later support may be larger
    for (std::size_t first = 0; first < x.size();) {
        std::size_t const count = std::min(block, x.size() - first);
        if (detail::any_nonzero<A>(x.subspan(first, count))) out.push_back(static_cast<coordinate>(first / block));
        first += count;
    }
}

/// The k blocks of `block` consecutive coordinates (the last may be shorter) with the largest sums of squares, of equal
/// ones the lower block first. Doubles are divided by the largest magnitude before they are squared, floats' squares
/// are exact. block >= 1, k at most the number of blocks. Two passes over doubles, one over floats.
template <class A, Scalar T>
void select_largest_blocks(basic_host<A>& on, std::span<T const> x, std::size_t block, std::size_t k,
                           std::vector<coordinate>& out) {
    LACONIC_EXPECTS(block >= 1 && x.size() <= largest_dimension);
    std::size_t const blocks = x.size() / block + (x.size() % block != 0);
    LACONIC_EXPECTS(k <= blocks);
    auto const energies = on.template scratch<double>(1, blocks);
    [[maybe_unused]] T scale = 1;
    if constexpr (sizeof(T) == 8)  // with a NaN, its block is to come first: not all shall be NaN
        if (T const largest = largest_magnitude(on, x); std::isfinite(largest))
            scale = std::max(largest, std::numeric_limits<T>::min());
    for (std::size_t b = 0; b < blocks; ++b) {
        auto const part = x.subspan(b * block, std::min(block, x.size() - b * block));
        if constexpr (sizeof(T) == 8)
            energies[b] = sum_of_squares(on, part, scale);
        else
            energies[b] = sum_of_squares(on, part);
    }
    select_largest(on, std::span<double const>(energies), k, out);
}

/// The numbers at the places `at`, times scale, one after another. A place is `unit` consecutive coordinates; the last
/// place of x may be shorter.
template <class A, Scalar T>
void gather(basic_host<A>&, std::span<T const> x, std::span<coordinate const> at, std::size_t unit, T scale,
            std::vector<T>& out) {
    if (unit == 1) {
        out.resize(at.size());
        for (std::size_t j = 0; j < at.size(); ++j) out[j] = scale * x[at[j]];
        return;
    }
    out.clear();
    for (coordinate const u : at) {
        std::size_t const first = u * unit, count = std::min(unit, x.size() - first), start = out.size();
        out.resize(start + count);
        for (std::size_t j = 0; j < count; ++j) out[start + j] = scale * x[first + j];
    }
}

}  // namespace laconic
