// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

/// What code above the backends does with the elements of their arrays, which the host need not be able to reach: it
/// calls kernels, and copies by name. Arrays have no [] there; B::array<E> has
///   default construction, array(n) of zeros, size(), empty(), swap, moves, copies, ==;
///   data(), begin(), end()   pointers for spans and kernels;
///   resize(n)                new elements are zero, the capacity never shrinks;
///   assign(n, value)         n times the value.
namespace laconic {

/// Whether the host may read and write elements of B's arrays where they are.
template <class B>
concept OnHost = requires(typename B::template array<double>& a) {
    a[0];
};

/// to <- from, with its length. `from` is none of to's own.
template <class B, class E, class Array>
void assign(B& on, std::span<E const> from, Array& to) {
    to.resize(from.size());
    copy(on, from, std::span<E>(to));
}

/// x_i, on the host. Waits for it.
template <class B, class E>
E element(B& on, std::span<E const> x, std::size_t i) {
    E value;
    copy_to_host(on, x.subspan(i, 1), std::span<E>(&value, 1));
    return value;
}

}  // namespace laconic
