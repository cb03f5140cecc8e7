// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "laconic/backend/host/reduce.hpp"
#include "laconic/backend/host/select_largest.hpp"

/// Which coordinates of a vector travel. All write ascending coordinates.
namespace laconic::detail {

// Whether some x_i is not 0. Up to 1024 numbers are read with no branch, which would wait for them to come from memory.
template <class A, Scalar T>
bool any_nonzero(std::span<T const> x) {
    using pack = simd::pack<T, A>;
    constexpr std::size_t most = 1024, together = 8 * pack::width;
    auto const zeros = pack::all(T(0));
    bool some = false;
    for (std::size_t begin = 0; begin < x.size() && !some; begin += most) {
        auto const part = x.subspan(begin, std::min(most, x.size() - begin));
        auto sum = zeros;
        std::size_t i = 0;
        for (; i + together <= part.size(); i += together) {
            fetch_ahead<together * sizeof(T)>(part.data() + i);
            auto const at = [&](std::size_t j) { return magnitude(pack::load(part.data() + i + j * pack::width)); };
            sum = sum + (((at(0) + at(1)) + (at(2) + at(3))) + ((at(4) + at(5)) + (at(6) + at(7))));
        }
        for (; i + pack::width <= part.size(); i += pack::width) sum = sum + magnitude(pack::load(part.data() + i));
        some = !all_at_most(sum, zeros);
        for (; i < part.size(); ++i) some |= part[i] != 0;
    }
    return some;
}

// Sums of squares as they are order blocks like those of numbers divided by the largest, except where two are nearly
// the same. So only those near the k-th are divided: of the others, +infinity is put in the place of what is certainly
// among the k largest and 0 in that of what is not. False, and nothing done, where sums are out of range. `largest` is
// the largest magnitude; 1 <= k <= energies.size(); exact(b) gives the sum of block b, divided.
template <class A, class Exact>
bool settle_energies(kernels::basic_host<A>& on, std::span<double> energies, std::size_t k, double largest,
                     Exact exact) {
    if (!(largest >= 0x1p-300 && largest <= 0x1p300)) return false;
    auto const room = on.template scratch<double>(detail::scratch_for::numbers, room_for(energies.size()));
    double const kth = kth_largest<A>(std::span<double const>(energies), k, room).value;
    if (!(kth >= largest * largest * 0x1p-200)) return false;
    constexpr double margin = 0x1p-16;  // far more than rounding makes of 2^32 summands
    for (std::size_t b = 0; b < energies.size(); ++b) {
        if (energies[b] > kth * (1 + margin))
            energies[b] = std::numeric_limits<double>::infinity();
        else
            energies[b] = energies[b] < kth * (1 - margin) ? 0 : exact(b);
    }
    return true;
}

}  // namespace laconic::detail

namespace laconic::kernels {

/// The coordinates with |x_i| > bound; a NaN is always above, so that it is not lost. One pass.
template <class A, Scalar T>
void select_above(basic_host<A>&, std::span<T const> x, T bound, std::vector<coordinate>& out) {
    detail::list_chosen<A>(x, out,
                           [bound](T const* p, std::uint64_t, std::size_t) { return detail::bits_above<A>(p, bound); });
}

/// The coordinates with |x_i| > bounds_i; bounds is as long as x. One pass over both.
template <class A, Scalar T>
void select_above(basic_host<A>&, std::span<T const> x, std::span<T const> bounds, std::vector<coordinate>& out) {
    LACONIC_EXPECTS(bounds.size() == x.size());
    using pack = simd::pack<T, A>;
    detail::list_chosen<A>(x, out, [bounds](T const* p, std::uint64_t real, std::size_t first) {
        auto const b = bounds.subspan(first);
        std::uint64_t at_most = 0;
        if (~real == 0)
            for (std::size_t j = 0; j < detail::word_bits; j += pack::width)
                at_most |= which_at_most(magnitude(pack::load(p + j)), pack::load(b.data() + j)) << j;
        else
            for (std::size_t j = 0; j < b.size(); ++j) at_most |= std::uint64_t{std::abs(p[j]) <= b[j]} << j;
        return ~at_most;
    });
}

/// The n coordinates with the largest |x_i|, of equal ones the lower coordinate first, for an n between least and most
/// that is found without sorting: as many as are at or above the lowest threshold that leaves no more than `most`, on
/// a grid of magnitudes that keeps 11 bits of their binary form (exponent first), or 22, 33, ... where that leaves
/// fewer than `least`; k where no threshold does. least <= k <= most <= x.size() < 2^32. As many passes as
/// select_largest.
template <class A, Scalar T>
void select_about(basic_host<A>& on, std::span<T const> x, std::size_t least, std::size_t k, std::size_t most,
                  std::vector<coordinate>& out) {
    LACONIC_EXPECTS(least <= k && k <= most && most <= x.size() && x.size() <= detail::largest_dimension);
    if (most == x.size()) {
        out.resize(most);
        return std::iota(out.begin(), out.end(), coordinate{0});
    }
    out.reserve(most);  // once: a later support may be larger
    bool found = false;
    // The lowest threshold that leaves no more than `most` is the grid's next one above the magnitude after these.
    detail::with_kth_largest(on, x, most + 1, [&](std::span<T const> values, auto name, detail::cutoff<T> t) {
        if (most + 1 - t.equal < least) return;  // so many are left by the finest grid, and no more by any
        auto const excluded = detail::magnitude_bits(t.value);
        for (int shift = std::numeric_limits<decltype(excluded)>::digits - 12; !found;
             shift = std::max(0, shift - 11)) {
            auto const last_below = std::bit_cast<T>(excluded | ((decltype(excluded){1} << shift) - 1));
            auto const n = detail::count_above<A>(values, last_below);
            found = n >= least;
            if (found) {
                out.resize(n);
                detail::take_from<A>(values, {last_below, 0}, name, std::span(out));
            }
            if (shift == 0) return;
        }
    });
    if (!found) select_largest(on, x, k, out);
}

/// |x_i|, the largest first. All finite. A copy of x; where they are many, three passes over it for float and six for
/// double, each by eleven of their bits.
template <class A, Scalar T>
void sort_magnitudes(basic_host<A>& on, std::span<T const> x, std::vector<T>& out) {
    out.resize(x.size());
    if (x.size() < 4096) {
        for (std::size_t i = 0; i < x.size(); ++i) out[i] = std::abs(x[i]);
        return std::sort(out.begin(), out.end(), [](T a, T b) { return a > b; });
    }
    constexpr int width = 11, digits = sizeof(T) == 4 ? 3 : 6;
    constexpr std::size_t base = std::size_t{1} << width;
    auto const digit = [](T v, int d) {  // the largest first
        return base - 1 - (detail::magnitude_bits(v) >> (d * width) & (base - 1));
    };
    std::array<std::array<coordinate, base>, std::size_t{digits}> places{};  // where the next with such a digit goes
    for (T const v : x)
        for (int d = 0; d < digits; ++d) ++places[static_cast<std::size_t>(d)][digit(v, d)];
    for (auto& p : places) std::exclusive_scan(p.begin(), p.end(), p.begin(), coordinate{0});
    auto const spare = on.template scratch<T>(detail::scratch_for::numbers, x.size());
    auto const pass = [&](std::span<T const> from, int d, std::span<T> to) {
        for (T const v : from) to[places[static_cast<std::size_t>(d)][digit(v, d)]++] = std::abs(v);
    };
    bool in_out = digits % 2 == 1;  // the last pass ends there
    pass(x, 0, in_out ? std::span<T>(out) : spare);
    for (int d = 1; d < digits; ++d, in_out = !in_out)
        in_out ? pass(std::span<T const>(out), d, spare) : pass(spare, d, std::span<T>(out));
}

/// How many |x_i| fall into each of the magnitude_bins below that of the largest, which is `largest`; those below all
/// counts are not counted. All finite, not all 0. One pass.
template <class A, Scalar T>
void count_by_magnitude(basic_host<A>&, std::span<T const> x, T largest, std::span<std::uint32_t> counts) {
    LACONIC_EXPECTS(x.size() <= detail::largest_dimension);
    constexpr int shift = std::numeric_limits<T>::digits - 1 - magnitude_bins::width;
    T const scale = unit_scale(largest);  // so that none that counts is subnormal
    auto const top = detail::magnitude_bits(largest * scale) >> shift;
    std::fill(counts.begin(), counts.end(), 0u);
    constexpr std::size_t together = 64;
    auto const count = [&](std::span<T const> part, auto bins) {
        for (std::size_t j = 0; j < part.size(); ++j)
            bins[j] = top - (detail::magnitude_bits(part[j] * scale) >> shift);
        for (std::size_t j = 0; j < part.size(); ++j)
            if (bins[j] < counts.size()) ++counts[bins[j]];
    };
    std::array<decltype(detail::magnitude_bits(T{})), together> bins;
    std::size_t i = 0;
    for (; i + together <= x.size(); i += together) count(x.subspan(i).template first<together>(), bins);
    count(x.subspan(i), bins);
}

/// The blocks of `block` consecutive coordinates (the last may be shorter) that hold a number other than 0; a NaN is
/// one. block >= 1. One pass, which leaves out most of the blocks that begin with such a number where many do.
template <class A, Scalar T>
void select_nonzero_blocks(basic_host<A>&, std::span<T const> x, std::size_t block, std::vector<coordinate>& out) {
    LACONIC_EXPECTS(block >= 1 && x.size() <= detail::largest_dimension);
    out.clear();
    out.reserve(x.size() / block + 1);  // once: a later support may be larger
    std::array<coordinate, detail::word_bits + detail::list_margin> some;
    bool many = false;  // of the last 64 have one: so do the next, mostly, and begin with it: then they are not read on
    for (std::size_t first = 0, b = 0; first < x.size(); b += detail::word_bits) {
        std::uint64_t bits = 0;
        for (std::size_t j = 0; j < detail::word_bits && first < x.size(); ++j) {
            auto const part = x.subspan(first, std::min(block, x.size() - first));
            bool const at_once = many && part[0] != 0;
            bits |= std::uint64_t{at_once || detail::any_nonzero<A>(part)} << j;
            first += part.size();
        }
        many = std::popcount(bits) > 48;
        auto const n = detail::write_positions<A>(bits, b, some.data());
        std::copy_n(some.data(), n, out.insert(out.end(), n, coordinate{0}));
    }
}

/// The k blocks of `block` consecutive coordinates (the last may be shorter) with the largest sums of squares, of equal
/// ones the lower block first. Doubles are divided by the largest magnitude before they are squared, floats' squares
/// are exact. block >= 1, k at most the number of blocks. One pass over floats. Of doubles each block is read twice,
/// for its squares and its largest magnitude, and once more where it is near the k-th or squares are out of range.
template <class A, Scalar T>
void select_largest_blocks(basic_host<A>& on, std::span<T const> x, std::size_t block, std::size_t k,
                           std::vector<coordinate>& out) {
    LACONIC_EXPECTS(block >= 1 && x.size() <= detail::largest_dimension);
    std::size_t const blocks = detail::pieces_in(x.size(), block);
    LACONIC_EXPECTS(k <= blocks);
    if (k == 0) return out.clear();
    auto const energies = on.template scratch<double>(detail::scratch_for::energies, blocks);
    auto const part = [&](std::size_t b) { return x.subspan(b * block, std::min(block, x.size() - b * block)); };
    T largest = 0;
    for (std::size_t b = 0; b < blocks; ++b) {
        energies[b] = sum_of_squares(on, part(b));
        if constexpr (sizeof(T) == 8)  // NaN where a number is not finite, and it stays
            if (T const here = largest_magnitude(on, part(b)); here > largest || std::isnan(here)) largest = here;
    }
    if constexpr (sizeof(T) == 8) {
        // With a NaN, its block is to come first: not all shall be NaN.
        T const scale = std::isfinite(largest) ? std::max(largest, std::numeric_limits<T>::min()) : T(1);
        auto const divided = [&](std::size_t b) { return sum_of_squares(on, part(b), scale); };
        if (!detail::settle_energies(on, energies, k, largest, divided))
            for (std::size_t b = 0; b < blocks; ++b) energies[b] = divided(b);
    }
    select_largest(on, std::span<double const>(energies), k, out);
}

/// The numbers at the places `at`, of `unit` coordinates each (the last of x may be shorter), times scale, in a row.
template <class A, Scalar T>
void gather(basic_host<A>&, std::span<T const> x, std::span<coordinate const> at, std::size_t unit, T scale,
            std::vector<T>& out) {
    if (unit == 1) {
        constexpr std::size_t ahead = 64;
        out.resize(at.size());
        std::size_t j = 0;
        for (; j + ahead < at.size(); ++j) {
            detail::fetch_to_read(x.data() + at[j + ahead]);
            out[j] = scale * x[at[j]];
        }
        for (; j < at.size(); ++j) out[j] = scale * x[at[j]];
        return;
    }
    out.clear();
    for (coordinate const u : at) {
        std::size_t const first = u * unit, count = std::min(unit, x.size() - first), start = out.size();
        out.resize(start + count);
        for (std::size_t j = 0; j < count; ++j) out[start + j] = scale * x[first + j];
    }
}

}  // namespace laconic::kernels
