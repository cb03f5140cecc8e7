// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "laconic/backend/host/memory.hpp"
#include "laconic/backend/host/merge_lists.hpp"
#include "laconic/backend/host/sort_list.hpp"
#include "laconic/backend/host/sum_of_lists.hpp"
#include "laconic/backend/listed_terms.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/view.hpp"

/// Sparse vectors as two arrays, their ascending coordinates, none twice, and the values there: what the sums of sparse
/// collectives are made of. No result may be an argument. On a device, those that size a result by what they find wait
/// for its length.
namespace laconic {

namespace detail {

/// Of how many terms a sum of lists with ascending coordinates may be, as far as their ends tell.
template <Scalar T>
std::size_t most_terms_of(listed_terms<T> a, listed_terms<T> b) {
    std::size_t const both = a.at.size() + b.at.size();
    if (a.at.empty() || b.at.empty()) return both;
    return std::min<std::size_t>(
        both, std::size_t{std::max(a.at.back(), b.at.back())} - std::min(a.at.front(), b.at.front()) + 1);
}

}  // namespace detail

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
    at.resize(most);
    values.resize(most);
    auto const n = detail::merge<T>{}(a, b, at, values);
    at.resize(n);
    values.resize(n);
}

/// The sum of many lists, which are added in their order, the first to nothing. Two passes over each, or, where their
/// terms are far apart, as many as there are lists.
template <class A, Scalar T>
void sum_lists(basic_host<A>& on, std::span<listed_terms<T> const> lists, std::vector<coordinate>& at,
               std::vector<T>& values) {
    std::size_t terms = 0, filled = 0;
    for (auto const& l : lists) {
        terms += l.at.size();
        filled += !l.at.empty();
    }
    if (detail::sum_of_lists<T>::pays_for(lists)) {
        at.clear();
        values.clear();
        return detail::sum_of_lists<T>(on, lists.size(), terms)(
            lists, [&](std::span<coordinate const> some_at, std::span<T const> some) {
                at.insert(at.end(), some_at.begin(), some_at.end());
                values.insert(values.end(), some.begin(), some.end());
            });
    }
    // By merges, to the results and to scratch memory by turns, so that the last ends where it must.
    bool to_results = filled % 2 == 1;
    listed_terms<T> sum;
    for (auto const& l : lists) {
        if (l.at.empty()) continue;
        auto const most = detail::most_terms_of(sum, l);
        if (to_results) {
            at.resize(most);
            values.resize(most);
        }
        auto const to_at =
            to_results ? std::span(at) : on.template scratch<coordinate>(detail::scratch_for::coordinates, most);
        auto const to = to_results ? std::span(values) : on.template scratch<T>(detail::scratch_for::sums, most);
        auto const n = detail::merge<T>{}(sum, l, to_at, to);
        sum = {to_at.first(n), to.first(n)};
        to_results = !to_results;
    }
    at.resize(sum.at.size());
    values.resize(sum.at.size());
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
    for (auto* const at : {&kept_at, &left_at}) at->resize(n);
    for (auto* const values : {&kept, &left}) values->resize(n);
    std::size_t k = 0, l = 0;
    for (std::size_t j = 0; j < n; ++j) {
        left_at[l] = kept_at[k] = v.at[j];
        left[l] = kept[k] = v.values[j];
        k += is_chosen[j];
        l += 1u - is_chosen[j];
    }
    kept_at.resize(k);
    kept.resize(k);
    left_at.resize(l);
    left.resize(l);
}

/// The terms of v whose coordinates `other` does not have. One pass over both, without a jump that depends on them.
template <class A, Scalar T>
void list_without(basic_host<A>&, listed_terms<T> v, std::span<coordinate const> other, std::vector<coordinate>& at,
                  std::vector<T>& values) {
    at.resize(v.at.size());
    values.resize(v.at.size());
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
    at.resize(n);
    values.resize(n);
}

/// Makes room in `on` for add_lists, part_list and list_without of lists that have as many as n terms together.
template <Scalar T, class A>
void reserve_for_lists(basic_host<A>& on, std::size_t n) {
    on.template scratch<std::uint8_t>(detail::scratch_for::marks, n);
}

/// Makes room in `on` for sum_lists of so many lists that have so many terms together.
template <Scalar T, class A>
void reserve_to_sum(basic_host<A>& on, std::size_t lists, std::size_t terms) {
    detail::sum_of_lists<T>(on, lists, terms);
    on.template scratch<coordinate>(detail::scratch_for::coordinates, terms);
    on.template scratch<T>(detail::scratch_for::sums, terms);
}

}  // namespace laconic
