// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "laconic/collective/terms/sparse_sum.hpp"

namespace laconic::detail {

/// Lists of terms of one vector, one behind another in the order in which they come, so that they take the memory of
/// all terms together, whatever the length of each. Coordinates are the vector's.
template <Scalar T, OnHost B = host>
class gathered_lists {
  public:
    /// Makes room for this many lists with this many terms in all.
    void reserve(B& on, std::size_t lists, std::size_t terms) {
        ends_.reserve(lists);
        at_.reserve(terms);
        values_.reserve(terms);
        views_.reserve(lists);
        reserve_to_sum<T>(on, lists, terms);
    }
    void clear() {
        ends_.clear();
        at_.clear();
        values_.clear();
    }
    /// Appends a list, about the part of the vector that starts at `first`.
    void append(sparse_sum<T, B> const& list, std::size_t first) {
        auto const before = at_.size();
        at_.insert(at_.end(), list.support().begin(), list.support().end());
        if (first > 0)
            for (std::size_t j = before; j < at_.size(); ++j) at_[j] += static_cast<coordinate>(first);
        values_.insert(values_.end(), list.values().begin(), list.values().end());
        ends_.push_back(at_.size());
    }
    /// sum, whose dimension is set, <- the sum of all lists, added in the order start, start + 1, .. and round to start
    /// - 1.
    void add_up(B& on, std::size_t start, sparse_sum<T, B>& sum) {
        views_.clear();
        for (std::size_t l = 0; l < size(); ++l) {
            auto const i = (start + l) % size(), n = end(i) - begin(i);
            views_.push_back({support().subspan(begin(i), n), values().subspan(begin(i), n)});
        }
        sum.assign_sum(on, views_);
    }

    std::size_t size() const { return ends_.size(); }
    /// Where the i-th begins and ends among support() and values().
    std::size_t begin(std::size_t i) const { return i == 0 ? 0 : ends_[i - 1]; }
    std::size_t end(std::size_t i) const {
        LACONIC_EXPECTS(i < size());
        return ends_[i];
    }
    std::span<coordinate const> support() const { return at_; }
    std::span<T const> values() const { return values_; }

  private:
    std::vector<std::size_t> ends_;
    std::vector<coordinate> at_;
    typename B::template array<T> values_;
    std::vector<kernels::listed_terms<T>> views_;
};

}  // namespace laconic::detail
