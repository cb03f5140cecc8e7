// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "laconic/core/contract.hpp"
#include "laconic/exchange/sparse_sum.hpp"

namespace laconic::detail {

/// Lists of terms of one vector, one behind another in the order in which they come: what takes as much memory as all
/// of their terms, whoever has most of them. Coordinates are the vector's.
template <Scalar T, class B = host>
class gathered_lists {
  public:
    /// Makes room for so many lists that have so many terms together.
    void reserve(std::size_t lists, std::size_t terms) {
        ends_.reserve(lists);
        at_.reserve(terms);
        values_.reserve(terms);
    }
    void clear() {
        ends_.clear();
        at_.clear();
        values_.clear();
    }
    /// One more, about the part of the vector that starts at `first`.
    void append(sparse_sum<T, B> const& list, std::size_t first) {
        for (std::size_t j = 0; j < list.size(); ++j) {
            at_.push_back(static_cast<coordinate>(first + list.support()[j]));
            values_.push_back(list.values()[j]);
        }
        ends_.push_back(at_.size());
    }
    /// The i-th as it was appended.
    void copy(std::size_t i, std::size_t first, std::size_t length, sparse_sum<T, B>& list) const {
        list.reset(length);
        for (std::size_t j = begin(i); j < end(i); ++j) list.append(at_[j] - first, values_[j]);
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
};

}  // namespace laconic::detail
