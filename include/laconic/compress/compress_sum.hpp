// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <span>

#include "laconic/compress/compressor.hpp"

/// How a reducer calls a compressor: one that starts from what its last message has found, as a power method does
/// (low_rank), and one that makes delta together with its message, in fewer passes than one after the other. Both are
/// pure functions all the same.
namespace laconic::detail {

/// c(on, x, key, start, m) makes the message from a start, which is empty for the first, and c.start_after(m) is what
/// the next one starts from. What sends one message after another keeps it, as a reducer's layer does.
template <class C, class T, class B>
concept StartsWarm = requires(C const& c, B& on, std::span<T const> x, key from, message_of<C, T, B>& m) {
    c(on, x, from, x, m);
    { c.start_after(m) } -> std::convertible_to<std::span<T const>>;
};

/// Both for any compressor: one that does not start warm ignores the start, and leaves none.
template <Scalar T, class B, class C, class M>
void compress_from(B& on, C const& c, std::span<T const> x, key from, [[maybe_unused]] std::span<T const> start, M& m) {
    if constexpr (StartsWarm<C, T, B>)
        c(on, x, from, start, m);
    else
        c(on, x, from, m);
}
template <Scalar T, class B, class C, class M>
std::span<T const> start_after([[maybe_unused]] C const& c, [[maybe_unused]] M const& m) {
    if constexpr (StartsWarm<C, T, B>) return c.start_after(m);
    return {};
}

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
