// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

#include "laconic/core/term.hpp"
#include "laconic/core/view.hpp"

namespace laconic {

/// A vector of `dimension` numbers, of which those at `indices` are `values`, and all others 0.
template <class E>
struct sparse_vector {
    std::size_t dimension = 0;
    std::vector<coordinate> indices{};  ///< counted from 0
    std::vector<E> values{};

    bool operator==(sparse_vector const&) const = default;
};

/// The same of a caller's own arrays, which must outlive it, with indices of any integral type:
/// sparse_view(1000, indices, values).
template <class E, std::integral Index = coordinate>
struct sparse_view {
    std::size_t dimension = 0;
    std::span<Index const> indices{};
    std::span<E const> values{};

    sparse_view() = default;
    template <Contiguous Indices, Contiguous Values>
    sparse_view(std::size_t d, Indices const& at, Values const& numbers)
        : dimension(d), indices(detail::view(at)), values(detail::view(numbers)) {}
    sparse_view(
        sparse_vector<E> const& x) requires std::same_as<Index, coordinate>  // NOLINT: implicit, as that of a span
        : sparse_view(x.dimension, x.indices, x.values) {}
};
template <Contiguous Indices, Contiguous Values>
sparse_view(std::size_t, Indices const&, Values const&)
    -> sparse_view<detail::element_of<Values>, detail::element_of<Indices>>;
template <class E>
sparse_view(sparse_vector<E> const&) -> sparse_view<E>;

}  // namespace laconic
