// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "laconic/core/key.hpp"
#include "laconic/objective/dataset.hpp"

/// Data that are drawn.
namespace drawn {

/// The n-th number of a key, of the normal distribution of mean 0 and variance 1.
inline double normal(laconic::key k, std::uint64_t n) {
    return std::sqrt(-2 * std::log1p(-k.uniform(2 * n))) * std::cos(2 * std::numbers::pi * k.uniform(2 * n + 1));
}

/// n rows of d numbers: row(j, x) writes those of row j to x, a vector, and returns its label.
template <class Row>
laconic::dataset<> data(std::string name, std::size_t n, std::size_t d, Row row) {
    laconic::dataset<> all{std::move(name), laconic::dataset<>::matrix(std::ptrdiff_t(n), std::ptrdiff_t(d)), {}};
    std::vector<double> x(d);
    all.rows.reserve(std::ptrdiff_t(n * d));
    for (std::size_t j = 0; j < n; ++j) {
        all.labels.push_back(row(j, x));
        all.rows.startVec(std::ptrdiff_t(j));
        for (std::size_t i = 0; i < d; ++i) all.rows.insertBack(std::ptrdiff_t(j), std::ptrdiff_t(i)) = x[i];
    }
    all.rows.finalize();
    return all;
}

}  // namespace drawn
