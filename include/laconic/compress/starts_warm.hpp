// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <span>

#include "laconic/compress/compressor.hpp"

/// Compressors whose next message starts from what the last one has found, as a power method does (low_rank). They are
/// pure functions all the same: who sends one message after another keeps the start, as a reducer's layer does.
namespace laconic::detail {

/// c(on, x, key, start, m) makes the message from a start, which is empty for the first, and c.start_after(m) is what
/// the next one starts from. What sends one message after another keeps it, as a reducer's layer does.
template <class C, class T, class B>
concept StartsWarm = requires(C const& c, B& on, std::span<T const> x, key from, message_of<C, T, B>& m) {
    c(on, x, from, x, m);
    { c.start_after(m) } -> std::convertible_to<std::span<T const>>;
};

/// Both also for other compressors, which have no start.
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

}  // namespace laconic::detail
