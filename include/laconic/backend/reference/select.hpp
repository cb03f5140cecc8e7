// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <vector>

#include "laconic/backend/reference/arithmetic.hpp"

/// Which coordinates of a vector travel, and lists of terms.
namespace laconic::kernels {

template <Scalar T>
void select_largest(reference& on, std::span<T const> x, std::size_t k, std::vector<coordinate>& out) {
    auto& order = on.scratch.order;
    order.resize(x.size());
    std::iota(order.begin(), order.end(), coordinate{0});
    auto const magnitude = [&](coordinate i) { return detail::magnitude_bits(x[i]); };
    auto const last = order.begin() + static_cast<std::ptrdiff_t>(k);
    std::nth_element(order.begin(), last, order.end(), [&](coordinate a, coordinate b) {
        return magnitude(a) == magnitude(b) ? a < b : magnitude(a) > magnitude(b);
    });
    order.resize(k);
    std::sort(order.begin(), order.end());
    out = order;
}
template <Scalar T>
void select_largest_of_each(reference& on, std::span<T const> x, std::size_t chunk, std::size_t k,
                            std::vector<coordinate>& out) {
    out.clear();
    std::vector<coordinate> found;
    for (std::size_t first = 0; first < x.size(); first += chunk) {
        auto const part = x.subspan(first, std::min(chunk, x.size() - first));
        select_largest(on, part, std::min(k, part.size()), found);
        for (coordinate const i : found) out.push_back(static_cast<coordinate>(first + i));
    }
}
template <Scalar T>
bool compensate_and_select_largest(reference& on, T a, std::span<T const> g, std::span<T const> h, T b,
                                   std::span<T const> e, std::span<T> out, std::size_t k, std::vector<coordinate>& at) {
    if (!compensate(on, a, g, h, b, e, out)) return false;
    select_largest(on, std::span<T const>(out), k, at);
    return true;
}
template <Scalar T>
void select_above(reference&, std::span<T const> x, T bound, std::vector<coordinate>& out) {
    out.clear();
    for (std::size_t i = 0; i < x.size(); ++i)
        if (!(std::abs(x[i]) <= bound)) out.push_back(static_cast<coordinate>(i));
}
template <Scalar T>
void select_above(reference&, std::span<T const> x, std::span<T const> bounds, std::vector<coordinate>& out) {
    out.clear();
    for (std::size_t i = 0; i < x.size(); ++i)
        if (!(std::abs(x[i]) <= bounds[i])) out.push_back(static_cast<coordinate>(i));
}
inline void sample(reference& on, key from, std::size_t d, std::size_t k, std::vector<coordinate>& out) {
    // The first min(k, d - k) different numbers of the stream: they are the sample, or what it leaves out.
    std::size_t const n = std::min(k, d - k);
    auto& drawn = on.scratch.drawn;
    drawn.assign(d, false);
    for (std::uint64_t i = 0, found = 0; found < n; ++i)
        if (auto const at = detail::as_size(from.below(i, d)); !drawn[at]) drawn[at] = true, ++found;
    out.clear();
    for (std::size_t i = 0; i < d; ++i)
        if (drawn[i] == (k <= d / 2)) out.push_back(static_cast<coordinate>(i));
}
inline void sample_each(reference&, key from, std::size_t d, double p, std::vector<coordinate>& out) {
    out.clear();
    for (std::size_t i = 0; i < d; ++i)
        if (from.word(i) < std::floor(p * 0x1p32)) out.push_back(static_cast<coordinate>(i));
}
template <Scalar T>
void select_about(reference& on, std::span<T const> x, std::size_t least, std::size_t k, std::size_t most,
                  std::vector<coordinate>& out) {
    // Thresholds on coarser and finer grids: how many numbers are at or above the lowest that leaves no more than most?
    for (int shift = std::numeric_limits<detail::bits_of<T>>::digits - 12;; shift = std::max(0, shift - 11)) {
        auto& grid = on.scratch.grid;
        grid.clear();
        for (T const v : x) grid.push_back(detail::magnitude_bits(v) >> shift);
        auto const above = [&](std::uint64_t t) {
            return static_cast<std::size_t>(
                std::count_if(grid.begin(), grid.end(), [t](std::uint64_t g) { return g >= t; }));
        };
        std::size_t n = 0;  // the largest number of numbers at or above a threshold of the grid, but at most `most`
        for (std::uint64_t const t : grid)
            if (above(t) <= most) n = std::max(n, above(t));
        if (n >= least) return select_largest(on, x, n, out);
        if (shift == 0) return select_largest(on, x, k, out);
    }
}
template <Scalar T>
void sort_magnitudes(reference&, std::span<T const> x, std::vector<T>& out) {
    out.assign(x.begin(), x.end());
    for (T& v : out) v = std::abs(v);
    std::sort(out.begin(), out.end(), std::greater<>{});
}
template <Scalar T>
void count_by_magnitude(reference&, std::span<T const> x, T largest, std::span<std::uint32_t> counts) {
    // 256 e + floor(256 (m - 1)), where |v| = m 2^e and m is in [1, 2).
    auto const place = [](T v) {
        double const e = std::ilogb(v), m = std::abs(std::scalbn(static_cast<double>(v), -std::ilogb(v)));
        return magnitude_bins::per_octave * e + std::floor(magnitude_bins::per_octave * (m - 1));
    };
    std::fill(counts.begin(), counts.end(), 0u);
    for (T const v : x)
        if (v != 0)
            if (double const bin = place(largest) - place(v); bin < static_cast<double>(counts.size()))
                ++counts[static_cast<std::size_t>(bin)];
}
template <Scalar T>
void sample_in_proportion(reference&, std::span<T const> x, T bound, key from, std::vector<coordinate>& out) {
    out.clear();
    for (std::size_t i = 0; i < x.size(); ++i)
        if (from.uniform(i) * static_cast<double>(bound) < static_cast<double>(std::abs(x[i])))
            out.push_back(static_cast<coordinate>(i));
}
template <Scalar T>
void select_nonzero_blocks(reference&, std::span<T const> x, std::size_t block, std::vector<coordinate>& out) {
    out.clear();
    for (std::size_t i = 0; i < x.size(); ++i)
        if (x[i] != 0 && (out.empty() || out.back() != i / block)) out.push_back(static_cast<coordinate>(i / block));
}
template <Scalar T>
void select_largest_blocks(reference& on, std::span<T const> x, std::size_t block, std::size_t k,
                           std::vector<coordinate>& out) {
    double const largest = largest_magnitude(on, x);
    double const scale = std::isfinite(largest) ? std::max<double>(largest, std::numeric_limits<T>::min()) : 1;
    auto& energies = on.scratch.energies;
    auto& part = on.scratch.block;
    energies.clear();
    for (std::size_t first = 0; first < x.size(); first += block) {
        part.assign(x.begin() + static_cast<std::ptrdiff_t>(first),
                    x.begin() + static_cast<std::ptrdiff_t>(std::min(first + block, x.size())));
        energies.push_back(sum_of_squares(on, std::span<double const>(part), sizeof(T) == 8 ? scale : 1.0));
    }
    select_largest(on, std::span<double const>(energies), k, out);
}
template <Scalar T>
void gather(reference&, std::span<T const> x, std::span<coordinate const> at, std::size_t unit, T scale,
            std::vector<T>& out) {
    out.clear();
    for (coordinate const u : at)
        for (std::size_t i = u * unit; i < std::min(x.size(), (u + 1) * unit); ++i) out.push_back(scale * x[i]);
}

template <Scalar T, class Terms>
void list_terms(reference&, Terms terms, std::span<coordinate> at, std::span<T> values) {
    for (std::size_t j = 0; j < terms.size(); ++j) {
        at[j] = static_cast<coordinate>(terms[j].at);
        values[j] = static_cast<T>(terms[j].value);
    }
}
template <Scalar T>
void sum_lists(reference&, std::span<listed_terms<T> const> lists, std::vector<coordinate>& at, std::vector<T>& values,
               std::vector<coordinate>&, std::vector<T>&) {
    std::map<coordinate, T> sum;
    for (auto const& l : lists)
        for (std::size_t j = 0; j < l.at.size(); ++j) {
            auto const [place, is_new] = sum.try_emplace(l.at[j], l.values[j]);
            if (!is_new) place->second += l.values[j];
        }
    at.clear();
    values.clear();
    for (auto const& [i, v] : sum) {
        at.push_back(i);
        values.push_back(v);
    }
}
template <Scalar T>
void add_lists(reference& on, listed_terms<T> a, listed_terms<T> b, std::vector<coordinate>& at,
               std::vector<T>& values) {
    listed_terms<T> const both[] = {a, b};
    sum_lists(on, std::span<listed_terms<T> const>(both), at, values, at, values);
}
template <Scalar T>
void part_list(reference&, listed_terms<T> v, std::span<coordinate const> chosen, std::vector<coordinate>& kept_at,
               std::vector<T>& kept, std::vector<coordinate>& left_at, std::vector<T>& left) {
    for (auto* const at : {&kept_at, &left_at}) at->clear();
    for (auto* const values : {&kept, &left}) values->clear();
    for (std::size_t j = 0; j < v.at.size(); ++j) {
        bool const is_chosen = std::binary_search(chosen.begin(), chosen.end(), static_cast<coordinate>(j));
        (is_chosen ? kept_at : left_at).push_back(v.at[j]);
        (is_chosen ? kept : left).push_back(v.values[j]);
    }
}
template <Scalar T>
void take_list(reference&, listed_terms<T> v, std::span<coordinate const> chosen, std::vector<coordinate>& at,
               std::vector<T>& values) {
    at.clear();
    values.clear();
    for (auto const j : chosen) {
        at.push_back(v.at[j]);
        values.push_back(v.values[j]);
    }
}
template <Scalar T>
void list_without(reference&, listed_terms<T> v, std::span<coordinate const> other, std::vector<coordinate>& at,
                  std::vector<T>& values) {
    at.clear();
    values.clear();
    for (std::size_t j = 0; j < v.at.size(); ++j) {
        if (std::binary_search(other.begin(), other.end(), v.at[j])) continue;
        at.push_back(v.at[j]);
        values.push_back(v.values[j]);
    }
}
template <Scalar T>
void sort_list(reference& on, std::span<coordinate const> at, std::span<T const> values, std::size_t,
               std::span<coordinate> sorted_at, std::span<T> sorted_values) {
    auto& order = on.scratch.order;
    order.resize(at.size());
    std::iota(order.begin(), order.end(), coordinate{0});
    std::stable_sort(order.begin(), order.end(), [&](coordinate i, coordinate j) { return at[i] < at[j]; });
    for (std::size_t j = 0; j < order.size(); ++j) {
        sorted_at[j] = at[order[j]];
        sorted_values[j] = values[order[j]];
    }
}
template <Scalar T>
void reserve_for_lists(reference&, std::size_t) {}
template <Scalar T>
void reserve_to_sum(reference&, std::size_t, std::size_t) {}
template <Scalar T>
void reserve_to_sort(reference&, std::size_t, std::size_t) {}

}  // namespace laconic::kernels
