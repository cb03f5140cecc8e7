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
namespace laconic::detail {

/// Of how many terms a sum of lists with ascending coordinates may be, by their first and last coordinates.
template <Scalar T>
std::size_t most_terms_of(kernels::listed_terms<T> a, kernels::listed_terms<T> b) {
    std::size_t const both = a.at.size() + b.at.size();
    if (a.at.empty() || b.at.empty()) return both;
    return std::min<std::size_t>(
        both, std::size_t{std::max(a.at.back(), b.at.back())} - std::min(a.at.front(), b.at.front()) + 1);
}

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
    at.resize(most);
    values.resize(most);
    auto const n = detail::merge<T>{}(a, b, at, values);
    at.resize(n);
    values.resize(n);
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
    std::size_t const kept_room = std::min(n, chosen.size() + 1), left_room = std::min(n, n - chosen.size() + 1);
    kept_at.resize(kept_room);
    kept.resize(kept_room);
    left_at.resize(left_room);
    left.resize(left_room);
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

/// Those terms of v whose numbers j are listed, ascending.
template <class A, Scalar T>
void take_list(basic_host<A>&, listed_terms<T> v, std::span<coordinate const> chosen, std::vector<coordinate>& at,
               std::vector<T>& values) {
    at.resize(chosen.size());
    values.resize(chosen.size());
    for (std::size_t j = 0; j < chosen.size(); ++j) {
        at[j] = v.at[chosen[j]];
        values[j] = v.values[chosen[j]];
    }
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

}  // namespace laconic::kernels
