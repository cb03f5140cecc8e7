// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "laconic/adapt/level.hpp"
#include "laconic/core/portion.hpp"
#include "laconic/core/text.hpp"

namespace laconic {

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
    template <class B, Scalar T, class M>
    void update(B&, std::span<T const>, M const&) const {}
    friend std::string to_string(warm_up const& l) {
        return detail::concat({"warm_up(", to_string(l.k), ", rounds=", l.rounds, ")"});
    }
};

}  // namespace laconic
