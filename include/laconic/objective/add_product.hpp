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

namespace laconic::detail {

/// out += a b, without an allocation: in tiles, for which Eigen packs its operands on the stack.
template <class Out, class A, class B>
void add_product(Out&& out, A const& a, B const& b) {
    LACONIC_EXPECTS(out.rows() == a.rows() && out.cols() == b.cols() && a.cols() == b.rows());
    using number = typename std::remove_cvref_t<Out>::Scalar;
    constexpr Eigen::Index depth = 256, side = 128 * 1024 / (depth * sizeof(number));
    for (Eigen::Index k = 0; k < a.cols(); k += depth)
        for (Eigen::Index i = 0; i < out.rows(); i += side)
            for (Eigen::Index j = 0; j < out.cols(); j += side) {
                auto const m = std::min(side, out.rows() - i), n = std::min(side, out.cols() - j);
                auto const inner = std::min(depth, a.cols() - k);
                out.block(i, j, m, n).noalias() += a.block(i, k, m, inner) * b.block(k, j, inner, n);
            }
}

/// n numbers of `room`, which grows where it must, at an address that is a multiple of 64: Eigen's rounding depends on
/// the alignment of its operands.
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

}  // namespace laconic::detail
