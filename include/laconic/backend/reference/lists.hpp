// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <span>
#include <vector>

#include "laconic/backend/arguments.hpp"
#include "laconic/backend/reference/memory.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/view.hpp"

namespace laconic::kernels {

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
