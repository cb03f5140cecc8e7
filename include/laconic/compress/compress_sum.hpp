// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <span>

#include "laconic/compress/starts_warm.hpp"

/// Compressors that make delta together with their message, in fewer passes than one after the other.
namespace laconic::detail {

/// c.compress_sum(on, sum, key, m) makes sum.out as compensate() does, and the message about it; returns whether all of
/// sum.out is finite, or else m is unspecified. C::compresses_sum is C: a class that is derived from C, and whose call
/// does something else, does not inherit it. One that is chosen at run time takes the start before m.
template <class C, class T, class B>
concept CompressesSum = std::same_as<typename C::compresses_sum, C> &&
    requires(C const& c, B& on, kernels::compensation<T> const& sum, key from, message_of<C, T, B>& m) {
    { c.compress_sum(on, sum, from, m) } -> std::same_as<bool>;
};
template <class C, class T, class B>
concept CompressesSumFrom = requires(C const& c, B& on, kernels::compensation<T> const& sum, key from,
                                     message_of<C, T, B>& m) {
    { c.compress_sum(on, sum, from, sum.g, m) } -> std::same_as<bool>;
};

/// The same for all compressors, from a start where they have one.
template <Scalar T, class B, class C, class M>
bool compress_sum(B& on, C const& c, kernels::compensation<T> const& sum, key from, std::span<T const> start, M& m) {
    if constexpr (CompressesSumFrom<C, T, B>) {
        return c.compress_sum(on, sum, from, start, m);
    } else if constexpr (CompressesSum<C, T, B>) {
        return c.compress_sum(on, sum, from, m);
    } else {
        if (!compensate(on, sum.a, sum.g, sum.h, sum.b, sum.e, sum.out)) return false;
        compress_from<T>(on, c, std::span<T const>(sum.out), from, start, m);
        return true;
    }
}

}  // namespace laconic::detail
