// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "laconic/core/contract.hpp"

/// What perceptron is made of: its parameters as matrices, and their products.
namespace laconic::detail {

// out += a b, without an allocation: in tiles, for which Eigen packs its operands on the stack.
template <class Out, class A, class B>
void add_product(Out& out, A const& a, B const& b) {
    constexpr Eigen::Index depth = 256, side = 128 * 1024 / (depth * sizeof(typename Out::Scalar));
    for (Eigen::Index k = 0; k < a.cols(); k += depth)
        for (Eigen::Index i = 0; i < out.rows(); i += side)
            for (Eigen::Index j = 0; j < out.cols(); j += side) {
                auto const m = std::min(side, out.rows() - i), n = std::min(side, out.cols() - j);
                auto const inner = std::min(depth, a.cols() - k);
                out.block(i, j, m, n).noalias() += a.block(i, k, m, inner) * b.block(k, j, inner, n);
            }
}

// n numbers at an address that is a multiple of 64: Eigen's rounding depends on the alignment of its operands.
template <class T>
std::span<T> aligned(std::vector<T>& room, std::size_t n) {
    constexpr std::size_t line = 64 / sizeof(T);
    if (room.size() < n + line) room.resize(n + line);
    auto const past = reinterpret_cast<std::uintptr_t>(room.data()) / sizeof(T) % line;
    return std::span(room).subspan(past == 0 ? 0 : line - past, n);
}

// A copy of x at such an address.
template <class T>
std::span<T const> aligned_copy(std::vector<T>& room, std::span<T const> x) {
    auto const there = aligned(room, x.size());
    std::copy(x.begin(), x.end(), there.begin());
    return there;
}

// The four parts of a perceptron's x, or of a gradient.
template <class M, class V>
struct perceptron_matrices {
    Eigen::Map<M> first;
    Eigen::Map<V> first_bias;
    Eigen::Map<M> second;
    Eigen::Map<V> second_bias;
};
template <class U>
auto perceptron_parts(std::span<U> x, std::size_t features, std::size_t hidden, std::size_t classes) {
    using T = std::remove_const_t<U>;
    using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    using vector = Eigen::Matrix<T, 1, Eigen::Dynamic>;
    using M = std::conditional_t<std::is_const_v<U>, matrix const, matrix>;
    using V = std::conditional_t<std::is_const_v<U>, vector const, vector>;
    auto const n = static_cast<Eigen::Index>(features), m = static_cast<Eigen::Index>(hidden),
               k = static_cast<Eigen::Index>(classes);
    auto* const p = x.data();
    return perceptron_matrices<M, V>{{p, m, n}, {p + m * n, m}, {p + m * (n + 1), k, m}, {p + m * (n + 1) + k * m, k}};
}

}  // namespace laconic::detail
