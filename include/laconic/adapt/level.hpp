// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <span>
#include <string>

#include "laconic/backend/host.hpp"
#include "laconic/compress/compressor.hpp"
#include "laconic/core/round_context.hpp"

namespace laconic {

/// Sets how much a compressor sends, each round. Satisfied iff
///   level.tune(on, compressor, now, x, delta)  sets the compressor's parameters for this round from the iterate and
///                                              from the vector that is compressed next; it may be called again for the
///                                              same round, and then does the same;
///   level.update(on, x, m)                     updates its state from the iterate and this rank's message, once all
///                                              messages of the round have been received, before the step is taken.
/// With to_string(level) its parameters are among those that the ranks compare before they start; with state(archive)
/// (wire/state.hpp) its state is saved.
template <class L, class C, class T = double, class B = host>
concept Level = std::movable<L> && requires(L& level, B& on, C& compressor, round_context const& now,
                                            std::span<T const> x, detail::message_of<C, T, B> const& m) {
    level.tune(on, compressor, now, x, x);
    level.update(on, x, m);
};

/// Leaves the compressor as it was given.
struct fixed_level {
    template <class B, class C, Scalar T>
    void tune(B&, C&, round_context const&, std::span<T const>, std::span<T const>) const {}
    template <class B, Scalar T, class M>
    void update(B&, std::span<T const>, M const&) const {}
    friend std::string to_string(fixed_level) { return "fixed"; }
};

}  // namespace laconic
