// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "laconic/core/contract.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/view.hpp"

namespace laconic::detail {

/// Sorts terms by their coordinates, by digits of these, the lowest first: in time that goes with the number of terms,
/// without comparing them. Reuses its memory: 16 bytes for a term of float32, and the counts of all digits.
template <Scalar T>
class term_sort {
  public:
    /// Makes room for n terms with coordinates below d.
    void reserve(std::size_t n, std::size_t d) {
        some_.reserve(n);
        others_.reserve(n);
        places_.reserve(std::max(places_for(digits_of(0, d)), places_for(digits_of(n, d))));
    }

    /// Writes the n terms v_j e_at[j], whose coordinates are below d, to sorted_at and sorted_values, of n elements
    /// each, which overlap neither. Of equal coordinates the first comes first.
    void operator()(std::span<coordinate const> at, std::span<T const> values, std::size_t d,
                    std::span<coordinate> sorted_at, std::span<T> sorted_values) {
        LACONIC_EXPECTS(values.size() == at.size() && sorted_at.size() == at.size() &&
                        sorted_values.size() == at.size());
        digits const by = digits_of(at.size(), d);
        count(at, by);
        if (by.count > 1) {
            some_.resize(at.size());
            others_.resize(by.count > 2 ? at.size() : 0);
        }
        auto const to_lists = [&](std::size_t j, coordinate i, T value) {
            sorted_at[j] = i;
            sorted_values[j] = value;
        };
        auto const to_some = [&](std::size_t j, coordinate i, T value) { some_[j] = {i, value}; };
        auto const to_others = [&](std::size_t j, coordinate i, T value) { others_[j] = {i, value}; };
        auto const pass = [&](unsigned digit, auto use) {
            auto* const next = places_.data() + (std::size_t{digit} << by.width);
            auto const put = [&](coordinate i, T value) { use(next[by.of(i, digit)]++, i, value); };
            if (digit == 0)
                for (std::size_t j = 0; j < at.size(); ++j) put(at[j], values[j]);
            else
                for (auto const& [i, value] : some_) put(i, value);
        };
        for (unsigned digit = 0; digit + 1 < by.count; ++digit) {
            if (digit == 0) {
                pass(digit, to_some);
            } else {
                pass(digit, to_others);
                some_.swap(others_);
            }
        }
        pass(by.count - 1, to_lists);
    }

  private:
    struct digits {
        unsigned count, width;
        coordinate of(coordinate i, unsigned digit) const {
            return i >> (digit * width) & ((coordinate{1} << width) - 1);
        }
    };
    // As few as there can be where the counts of their values do not weigh more than the terms.
    static digits digits_of(std::size_t n, std::size_t d) {
        unsigned const widest = n < 4096 ? 8 : 13, all = std::max(1u, width_of(d));
        unsigned const count = (all + widest - 1) / widest;
        return {count, (all + count - 1) / count};
    }
    static std::size_t places_for(digits by) { return std::size_t{by.count} << by.width; }

    // places_ <- for each value of each digit, how many terms have a lower one.
    void count(std::span<coordinate const> at, digits by) {
        places_.assign(places_for(by), 0);
        for (unsigned digit = 0; digit < by.count; ++digit) {
            auto* const places = places_.data() + (std::size_t{digit} << by.width);
            for (auto const i : at) ++places[by.of(i, digit)];
            coordinate before = 0;
            for (std::size_t v = 0; v < std::size_t{1} << by.width; ++v) before += std::exchange(places[v], before);
        }
    }

    std::vector<std::pair<coordinate, T>> some_, others_;
    std::vector<coordinate> places_;
};

}  // namespace laconic::detail
