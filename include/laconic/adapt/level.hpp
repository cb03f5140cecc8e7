// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "laconic/compress/identity_or.hpp"

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
    void tune(auto&, auto&, round_context const&, auto, auto) const {}
    void update(auto&, auto, auto const&) const {}
    friend std::string to_string(fixed_level) { return "fixed"; }
};

/// Sets an identity_or to send everything in full in the first round and then, on all ranks at once, with probability p
/// in each (the shared coin of MARINA; Gorbunov et al., ICML 2021).
struct synchronise {
    double p = 1;

    template <class C>
    void tune(auto&, identity_or<C>& compressor, round_context const& now, auto, auto) const {
        compressor.in_full = detail::sends_in_full(now, p);
    }
    void update(auto&, auto, auto const&) const {}
    friend std::string to_string(synchronise l) { return detail::concat({"synchronise(", l.p, ")"}); }
};

/// Lets a compressor with a portion k send more at first: in the four quarters of the first `rounds` rounds 25 %, 6.25
/// %, 1.5625 % and 0.4 % of the coordinates, but never fewer than k; from then on k (the warm-up of Deep Gradient
/// Compression, Lin et al., ICLR 2018, section 3.3). The round's number alone decides, so it has no state.
struct warm_up {
    portion k = 0.001;
    std::uint64_t rounds = 0;

    static constexpr std::array<double, 4> densities{0.25, 0.0625, 0.015625, 0.004};

    /// The number of coordinates sent out of d in that round.
    portion at(std::uint64_t round, std::size_t d) const {
        if (round >= rounds) return k;
        auto const quarter = static_cast<std::size_t>(4 * static_cast<double>(round) / static_cast<double>(rounds));
        return std::max(k.of(d), portion(densities[std::min<std::size_t>(quarter, 3)]).of(d));
    }

    template <class B, class C, Scalar T>
    requires std::same_as<decltype(C::k), portion>
    void tune(B&, C& compressor, round_context const& now, std::span<T const>, std::span<T const> delta) const {
        compressor.k = at(now.round, delta.size());
    }
    void update(auto&, auto, auto const&) const {}
    friend std::string to_string(warm_up const& l) {
        return detail::concat({"warm_up(", to_string(l.k), ", rounds=", l.rounds, ")"});
    }
};

}  // namespace laconic
