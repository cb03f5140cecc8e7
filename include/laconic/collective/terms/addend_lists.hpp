// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/collective/addend.hpp"
#include "laconic/collective/terms/sparse_sum.hpp"
#include "laconic/collective/terms/sparse_vector.hpp"

namespace laconic::detail {

/// A user's sparse vector of numbers of E as lists of terms, one for each word of a number. Reuses its memory.
template <Addend E>
class addend_lists {
    using T = addend_type<E>;
    static constexpr std::size_t words = addend_words<E>;

  public:
    sparse_sum<T>& operator[](std::size_t word) { return lists_[word]; }

    /// <- the terms of x, sorted; of terms with the same index their sum, in their order. Returns what is wrong with x,
    /// or nothing; then the lists are unspecified.
    template <std::integral Index>
    std::string load(host& on, sparse_view<E, Index> const& x) {
        auto const n = x.indices.size();
        if (x.values.size() != n)
            return concat({"a sparse vector has ", n, " indices and ", x.values.size(), " values"});
        if (x.dimension > largest_dimension)
            return concat({"a sparse vector of ", x.dimension, " numbers, of at most 2^32 - 1"});
        bool ascends = true;
        for (std::size_t j = 0; j < n; ++j) {
            auto const i = static_cast<std::uint64_t>(x.indices[j]);
            if (i >= x.dimension)
                return concat({"index ", x.indices[j], " in a sparse vector of ", x.dimension, " numbers"});
            ascends = ascends && (j == 0 || i > static_cast<std::uint64_t>(x.indices[j - 1]));
        }
        for (std::size_t w = 0; w < words; ++w) {
            at_[w].clear();
            values_[w].clear();
        }
        if (ascends)
            for (std::size_t j = 0; j < n; ++j) append(static_cast<coordinate>(x.indices[j]), x.values[j]);
        else {
            order_.resize(n);
            for (std::size_t j = 0; j < n; ++j) order_[j] = {static_cast<coordinate>(x.indices[j]), j};
            std::sort(order_.begin(), order_.end());
            for (auto const& [i, j] : order_) append(i, x.values[j]);
        }
        for (std::size_t w = 0; w < words; ++w)
            lists_[w].assign(on, x.dimension, std::span<coordinate const>(at_[w]), std::span<T const>(values_[w]));
        return {};
    }
    /// to <- the numbers of the lists, divided by so many, in ascending order, without those that are 0. Returns the
    /// index of the first that is outside of E, or nothing.
    std::optional<std::size_t> store(sparse_vector<E>& to, int divisor) const {
        to.dimension = lists_[0].dimension();
        to.indices.clear();
        to.values.clear();
        std::array<std::size_t, words> next{};
        for (;;) {
            auto at = std::numeric_limits<std::uint64_t>::max();
            for (std::size_t w = 0; w < words; ++w)
                if (next[w] < lists_[w].size()) at = std::min<std::uint64_t>(at, lists_[w].support()[next[w]]);
            if (at == std::numeric_limits<std::uint64_t>::max()) return {};
            typename addend<E>::all number{};
            for (std::size_t w = 0; w < words; ++w)
                if (next[w] < lists_[w].size() && lists_[w].support()[next[w]] == at)
                    number[w] = lists_[w].values()[next[w]++] / static_cast<T>(divisor);
            E x;
            if (!addend<E>::join(number, x)) return as_size(at);
            if (addend<E>::split(x) == typename addend<E>::all{}) continue;
            to.indices.push_back(static_cast<coordinate>(at));
            to.values.push_back(x);
        }
    }

  private:
    void append(coordinate i, E x) {
        auto const number = addend<E>::split(x);
        for (std::size_t w = 0; w < words; ++w) {
            if (!at_[w].empty() && at_[w].back() == i)
                values_[w].back() += number[w];
            else if (w == 0 || number[w] != 0) {
                at_[w].push_back(i);
                values_[w].push_back(number[w]);
            }
        }
    }

    std::array<sparse_sum<T>, words> lists_;
    std::array<std::vector<coordinate>, words> at_;
    std::array<std::vector<T>, words> values_;
    std::vector<std::pair<coordinate, std::size_t>> order_;
};

}  // namespace laconic::detail
