// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "laconic/core/contract.hpp"

namespace laconic {

/// The place of a matrix in a vector: `rows` rows of `columns` numbers, row after row, from `offset` on.
struct matrix_block {
    std::size_t offset = 0, rows = 0, columns = 0;

    std::size_t size() const { return rows * columns; }
    /// The index in the vector of row i and column j.
    std::size_t at(std::size_t i, std::size_t j) const { return offset + i * columns + j; }
    bool operator==(matrix_block const&) const = default;
};

}  // namespace laconic
