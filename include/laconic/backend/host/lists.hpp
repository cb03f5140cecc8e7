// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "laconic/backend/host/sum_of_lists.hpp"

/// Sparse vectors as two arrays, their ascending coordinates, none twice, and the values there: what the sums of sparse
/// collectives are made of. No result may be an argument. On a device, those that size a result by what they find wait
/// for its length.
namespace laconic::detail {

/// Of how many terms a sum of lists with ascending coordinates may be, by their first and last coordinates.
template <Scalar T>
std::size_t most_terms_of(kernels::listed_terms<T> a, kernels::listed_terms<T> b) {
    std::size_t const both = a.at.size() + b.at.size();
    if (a.at.empty() || b.at.empty()) return both;
    return std::min<std::size_t>(
        both, std::size_t{std::max(a.at.back(), b.at.back())} - std::min(a.at.front(), b.at.front()) + 1);
}

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

/// at_j, values_j <- term j of a message; both are as long as it is.
template <class A, Scalar T, class Terms>
void list_terms(basic_host<A>&, Terms terms, std::span<coordinate> at, std::span<T> values) {
    LACONIC_EXPECTS(at.size() == terms.size() && values.size() == terms.size());
    for (std::size_t j = 0; j < terms.size(); ++j) {
        auto const term = terms[j];
        LACONIC_EXPECTS(j == 0 || term.at > at[j - 1]);
        at[j] = static_cast<coordinate>(term.at);
        values[j] = static_cast<T>(term.value);
    }
}

/// The sum of two lists. One pass over both; it does not depend on which is which.
template <class A, Scalar T>
void add_lists(basic_host<A>&, listed_terms<T> a, listed_terms<T> b, std::vector<coordinate>& at,
               std::vector<T>& values) {
    auto const most = detail::most_terms_of(a, b);
    detail::resize_both(at, values, most);
    detail::resize_both(at, values, detail::merge<T>{}(a, b, at, values));
}

/// The sum of many lists, which are added in their order, the first to nothing. Two passes over each, or, where their
/// terms are far apart, as many as there are lists. spare_at and spare are workspace.
template <class A, Scalar T>
void sum_lists(basic_host<A>& on, std::span<listed_terms<T> const> lists, std::vector<coordinate>& at,
               std::vector<T>& values, std::vector<coordinate>& spare_at, std::vector<T>& spare) {
    at.clear();
    values.clear();
    if (detail::sum_of_lists<T>::pays_for(lists)) {
        std::size_t terms = 0;
        for (auto const& l : lists) terms += l.at.size();
        return detail::sum_of_lists<T>(on, lists.size(), terms)(
            lists, [&](std::span<coordinate const> some_at, std::span<T const> some) {
                at.insert(at.end(), some_at.begin(), some_at.end());
                values.insert(values.end(), some.begin(), some.end());
            });
    }
    for (auto const& l : lists) {
        if (l.at.empty()) continue;
        add_lists(on, listed_terms<T>{at, values}, l, spare_at, spare);
        at.swap(spare_at);
        values.swap(spare);
    }
}

/// Those terms of v whose numbers j are listed, ascending, go to `kept`, the others to `left`. One pass, without a jump
/// that depends on which it is: half of them may be either.
template <class A, Scalar T>
void part_list(basic_host<A>& on, listed_terms<T> v, std::span<coordinate const> chosen,
               std::vector<coordinate>& kept_at, std::vector<T>& kept, std::vector<coordinate>& left_at,
               std::vector<T>& left) {
    std::size_t const n = v.at.size();
    LACONIC_EXPECTS(chosen.size() <= n);
    auto const is_chosen = on.template scratch<std::uint8_t>(detail::scratch_for::marks, n);
    std::fill_n(is_chosen.data(), n, std::uint8_t{0});
    for (auto const j : chosen) is_chosen[j] = 1;
    // One more than there are, where the term is written that is not one of them.
    detail::resize_both(kept_at, kept, std::min(n, chosen.size() + 1));
    detail::resize_both(left_at, left, std::min(n, n - chosen.size() + 1));
    std::size_t k = 0, l = 0;
    for (std::size_t j = 0; j < n; ++j) {
        left_at[l] = kept_at[k] = v.at[j];
        left[l] = kept[k] = v.values[j];
        k += is_chosen[j];
        l += 1u - is_chosen[j];
    }
    detail::resize_both(kept_at, kept, k);
    detail::resize_both(left_at, left, l);
}

/// Those terms of v whose numbers j are listed, ascending.
template <class A, Scalar T>
void take_list(basic_host<A>&, listed_terms<T> v, std::span<coordinate const> chosen, std::vector<coordinate>& at,
               std::vector<T>& values) {
    detail::resize_both(at, values, chosen.size());
    for (std::size_t j = 0; j < chosen.size(); ++j) {
        at[j] = v.at[chosen[j]];
        values[j] = v.values[chosen[j]];
    }
}

/// The terms of v whose coordinates `other` does not have. One pass over both, without a jump that depends on them.
template <class A, Scalar T>
void list_without(basic_host<A>&, listed_terms<T> v, std::span<coordinate const> other, std::vector<coordinate>& at,
                  std::vector<T>& values) {
    detail::resize_both(at, values, v.at.size());
    std::size_t n = 0, i = 0, j = 0;
    while (j < v.at.size() && i < other.size()) {
        auto const here = v.at[j], there = other[i];
        at[n] = here;
        values[n] = v.values[j];
        n += here < there;
        j += here <= there;
        i += there <= here;
    }
    for (; j < v.at.size(); ++j, ++n) {
        at[n] = v.at[j];
        values[n] = v.values[j];
    }
    detail::resize_both(at, values, n);
}

/// Makes room in `on` for the kernels above but sum_lists, of lists of as many as n terms each.
template <Scalar T, class A>
void reserve_for_lists(basic_host<A>& on, std::size_t n) {
    on.template scratch<std::uint8_t>(detail::scratch_for::marks, n);
}

/// Makes room in `on` for sum_lists of so many lists that have so many terms together.
template <Scalar T, class A>
void reserve_to_sum(basic_host<A>& on, std::size_t lists, std::size_t terms) {
    detail::sum_of_lists<T>(on, lists, terms);
}

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
