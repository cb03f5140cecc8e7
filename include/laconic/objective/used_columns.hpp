// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "laconic/objective/shared_rows.hpp"

namespace laconic::detail {

/// The columns of a matrix that hold a number, for sums over all rows a_j of s_j a_j where s_j depends on a_j . x. Such
/// a sum waits for numbers of x and of the sum that no cache holds: here both of one column stand side by side, those
/// of other columns take no room, and what a_j . x has brought is there when s_j a_j is added.
template <Scalar T>
class used_columns {
  public:
    /// In two passes over the rows' columns; keeps 4 bytes for each stored number and each column that has one.
    explicit used_columns(shared_rows<T> const& rows) {
        auto const n = std::size_t(rows.data().rows.nonZeros());
        auto const* const columns = rows.columns();
        std::vector<coordinate> place(rows.features());
        for (std::size_t p = 0; p < n; ++p) place[columns[p]] = 1;
        for (std::size_t i = 0; i < place.size(); ++i)
            if (place[i] != 0) {
                place[i] = coordinate(used_.size());
                used_.push_back(coordinate(i));
            }
        places_.resize(n);
        std::transform(columns, columns + n, places_.begin(), [&](coordinate c) { return place[c]; });
    }

    /// g += sum_j weight(j, a_j . x) a_j, the bits that row_view makes of it, in a pass over the rows, which are those
    /// that it was made of. A thread's first call allocates two numbers for each column.
    void add_rows(shared_rows<T> const& rows, std::span<T const> x, std::span<T> g, auto&& weight) const {
        thread_local std::vector<std::array<T, 2>> room;
        if (room.size() < used_.size()) room.resize(used_.size());
        auto* const pairs = room.data();  // of x and of g
        for (std::size_t i = 0; i < used_.size(); ++i) pairs[i] = {x[used_[i]], g[used_[i]]};
        auto const* place = places_.data();
        for (std::size_t j = 0; j < rows.size(); ++j) {
            row_view<T> const row{rows[j].value, place, rows[j].count};
            auto const w = static_cast<T>(weight(j, row.dot([pairs](std::size_t i) { return pairs[i][0]; })));
            for (std::int64_t p = 0; p < row.count; ++p) pairs[place[p]][1] += w * row.value[p];
            place += row.count;
        }
        for (std::size_t i = 0; i < used_.size(); ++i) g[used_[i]] = pairs[i][1];
    }

  private:
    std::vector<coordinate> used_;    // increasing
    std::vector<coordinate> places_;  // of each stored number, where its column stands in used_
};

}  // namespace laconic::detail
