// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "laconic/backend/host/impl/instruction_set.hpp"
#include "laconic/backend/host/memory.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/view.hpp"

namespace laconic::detail {

/// Sorts terms by their coordinates, by digits of these, the lowest first: in time that goes with the number of terms,
/// without comparing them. Its scratch memory: 16 bytes for a term of float32, and the counts of all digits.
template <Scalar T, class Set = instruction_set::chosen>
class sort_by_digits {
  public:
    /// For n terms with coordinates below d.
    template <class A>
    sort_by_digits(kernels::basic_host<A>& on, std::size_t n, std::size_t d) : by_(digits_of(n, d)) {
        some_ = on.template scratch<placed>(scratch_for::marks, by_.count > 1 ? n : 0);
        others_ = on.template scratch<placed>(scratch_for::sums, by_.count > 2 ? n : 0);
        places_ = on.template scratch<coordinate>(scratch_for::counts, std::size_t{by_.count} << by_.width);
    }

    void operator()(std::span<coordinate const> at, std::span<T const> values, std::span<coordinate> sorted_at,
                    std::span<T> sorted_values) {
        auto const by = by_;
        count(at);
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
                for (auto const& [i, value] : some_.first(at.size())) put(i, value);
        };
        for (unsigned digit = 0; digit + 1 < by.count; ++digit) {
            if (digit == 0) {
                pass(digit, to_some);
            } else {
                pass(digit, to_others);
                std::swap(some_, others_);
            }
        }
        pass(by.count - 1, to_lists);
    }

  private:
    struct placed {
        coordinate at;
        T value;
    };
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

    // places_ <- for each value of each digit, how many terms have a lower one.
    void count(std::span<coordinate const> at) {
        std::fill(places_.begin(), places_.end(), 0);
        for (unsigned digit = 0; digit < by_.count; ++digit) {
            auto* const places = places_.data() + (std::size_t{digit} << by_.width);
            for (auto const i : at) ++places[by_.of(i, digit)];
            coordinate before = 0;
            for (std::size_t v = 0; v < std::size_t{1} << by_.width; ++v) before += std::exchange(places[v], before);
        }
    }

    digits by_;
    std::span<placed> some_, others_;
    std::span<coordinate> places_;
};

}  // namespace laconic::detail

namespace laconic::kernels {

/// Writes n terms in any order, whose coordinates at_j are below d, by ascending coordinates to sorted_at and
/// sorted_values, of n elements each, which overlap neither; of equal coordinates the first comes first. A pass over
/// the terms for each 8 bits of d, or 13 where they are many, and one to count.
template <class A, Scalar T>
void sort_list(basic_host<A>& on, std::span<coordinate const> at, std::span<T const> values, std::size_t d,
               std::span<coordinate> sorted_at, std::span<T> sorted_values) {
    LACONIC_EXPECTS(values.size() == at.size() && sorted_at.size() == at.size() && sorted_values.size() == at.size());
    detail::sort_by_digits<T>(on, at.size(), d)(at, values, sorted_at, sorted_values);
}

/// Makes room in `on` to sort as many as n terms with coordinates below d.
template <Scalar T, class A>
void reserve_to_sort(basic_host<A>& on, std::size_t n, std::size_t d) {
    for (auto const terms : {n, std::min<std::size_t>(n, 4095)}) detail::sort_by_digits<T>(on, terms, d);
}

}  // namespace laconic::kernels
