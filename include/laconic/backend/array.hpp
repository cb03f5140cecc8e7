// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "laconic/core/contract.hpp"

/// What code above the backends does with the elements of their arrays, which the host need not be able to reach: it
/// calls kernels, and copies by name. Arrays have no [] there; B::array<E> has
///   default construction, array(n) of zeros, size(), empty(), swap, moves, copies, ==;
///   capacity(), reserve(n)   how many elements it has room for, and that it has room for n;
///   data(), begin(), end()   pointers for spans and kernels;
///   resize(n)                elements new to its memory are zero, others may be as they were left; never shrinks the
///                            capacity;
///   assign(n, value)         n times the value;
///   resize_to_overwrite(n)   may be there: resize(n) without zeros, for elements that are written next.
namespace laconic {

/// Whether the host may read and write elements of B's arrays where they are.
template <class B>
concept OnHost = requires(typename B::template array<double>& a) {
    a[0];
};

}  // namespace laconic

namespace laconic::kernels {

/// An array whose elements the host may not touch.
template <class Array>
concept OutOfReach = requires(Array& a) {
    a.data();
    a.size();
}
&&!requires(Array & a) { a[0]; };

/// to <- from, of one length, where `to` is memory that the CPU can read; it is there when this returns.
template <OnHost B, class E>
void copy_to_host(B& on, std::span<E const> from, std::span<E> to) {
    copy(on, from, to);
}

/// to <- from, of one length, where `from` is memory that the CPU can read, and may be changed when this returns.
template <OnHost B, class E>
void copy_from_host(B& on, std::span<E const> from, std::span<E> to) {
    copy(on, from, to);
}

/// x where the CPU can read it: x itself, or a copy that lasts until the next call of this.
template <OnHost B, class E>
std::span<E const> on_host(B&, std::span<E const> x) {
    return x;
}

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

/// Copies between the host and a backend whose type is forgotten, and which outlives this; none where that is in reach.
class backend_copies {
  public:
    backend_copies() = default;
    template <class B>
    requires requires { typename B::template array<std::byte>; }
    backend_copies(B& on) {  // NOLINT: implicit, for who takes them by default
        if constexpr (!OnHost<B>) {
            on_ = &on;
            to_host_ = [](void* b, auto from, auto to) { copy_to_host(*static_cast<B*>(b), from, to); };
            from_host_ = [](void* b, auto from, auto to) { copy_from_host(*static_cast<B*>(b), from, to); };
        }
    }
    /// Whether there are copies to make.
    bool are_needed() const { return on_ != nullptr; }
    /// What is there, on the host. Waits for it.
    template <class E>
    std::vector<E> to_host(std::span<E const> x) const {
        LACONIC_EXPECTS(are_needed());
        std::vector<E> here(x.size());
        to_host_(on_, std::as_bytes(x), std::as_writable_bytes(std::span(here)));
        return here;
    }
    /// to <- from, which is the host's and as long. Waits for it.
    template <class E>
    void from_host(std::vector<E> const& from, std::span<E> to) const {
        LACONIC_EXPECTS(are_needed() && from.size() == to.size());
        from_host_(on_, std::as_bytes(std::span(from)), std::as_writable_bytes(to));
    }

  private:
    using copy_bytes = void(void* on, std::span<std::byte const> from, std::span<std::byte> to);
    void* on_ = nullptr;
    copy_bytes *to_host_ = nullptr, *from_host_ = nullptr;
};

}  // namespace laconic::kernels

namespace laconic::detail {

/// Elements that are new may be anything.
template <class Array>
void resize_to_overwrite(Array& array, std::size_t n) {
    if constexpr (kernels::OutOfReach<Array> && requires { array.resize_to_overwrite(n); })
        array.resize_to_overwrite(n);
    else
        array.resize(n);
}
/// The two arrays of a list of terms, to be written next.
void resize_both(auto& at, auto& values, std::size_t n) {
    resize_to_overwrite(at, n);
    resize_to_overwrite(values, n);
}

}  // namespace laconic::detail
