// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"

namespace laconic {

/// One of the vectors that a reducer takes in a step.
struct layer {
    std::string name;      ///< the same on all ranks, and unique
    std::size_t size = 0;  ///< the number of elements
    std::size_t rows = 0;  ///< of a matrix, row after row, which some compressors ask for; 0 or 1: it is a vector
    bool in_full = false;  ///< dense: sent uncompressed, without a state, as those that reducer_options name

    layer() = default;
    /// The number may be of any integer type, such as Eigen::Index.
    template <std::integral N, std::integral M = int>
    layer(std::string named, N elements, M rows_of_matrix = 0)
        : name(std::move(named)),
          size(static_cast<std::size_t>(elements)),
          rows(static_cast<std::size_t>(rows_of_matrix)) {}
};

namespace detail {

/// The numbers of elements of several layers: {x.size(), 10}, of any integer types, or a vector.
class layer_sizes {
    struct whole {
        std::size_t n;
        template <std::integral N>
        whole(N elements) : n(static_cast<std::size_t>(elements)) {}
    };

  public:
    layer_sizes(std::initializer_list<whole> sizes) {
        for (whole const size : sizes) sizes_.push_back(size.n);
    }
    layer_sizes(std::vector<std::size_t> sizes) : sizes_(std::move(sizes)) {}
    layer_sizes(std::vector<std::ptrdiff_t> const& sizes) : sizes_(sizes.begin(), sizes.end()) {}
    auto begin() const { return sizes_.begin(); }
    auto end() const { return sizes_.end(); }

  private:
    std::vector<std::size_t> sizes_;
};

/// What an error calls a layer.
[[gnu::cold, gnu::noinline]] inline std::string title_of(layer const& l) {
    return l.name.empty() ? "the vector" : concat({"layer ", l.name});
}

/// Throws argument_error where a layer's numbers are no matrix of its rows.
[[gnu::cold, gnu::noinline]] inline void check_rows(layer const& l, std::string const& title = "") {
    if (l.rows > 1 && l.size % l.rows != 0)
        throw argument_error({title, l.size, " numbers are no matrix of ", l.rows, " rows"});
}

}  // namespace detail

/// Layers named 0, 1, ... of these sizes.
inline std::vector<layer> layers_of(detail::layer_sizes const& sizes) {
    std::vector<layer> all;
    for (std::size_t const n : sizes) all.push_back({std::to_string(all.size()), n});
    return all;
}

}  // namespace laconic
