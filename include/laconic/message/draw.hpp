// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "laconic/core/key.hpp"

namespace laconic::messages {

/// How a key determines a support.
enum class draw_method : std::uint8_t {
    exactly = 1,     ///< `count` of the places, every set equally likely
    each = 2,        ///< each place with probability p, independently
    all_or_none = 3  ///< all places with probability p, else none
};

/// The recipe by which both ends draw a support.
struct draw {
    draw_method how = draw_method::exactly;
    std::size_t count = 0;
    double p = 0;
    key from{};

    bool operator==(draw const&) const = default;
};

/// The largest probability, at most p, that a 32-bit word can draw. A scale of 1 / drawable(p) makes the mean exact.
inline double drawable(double p) { return std::floor(p * 0x1p32) / 0x1p32; }

/// Draws the places into `support`, ascending within 0 .. places - 1.
template <class B, class Support>
void draw_support(B& on, draw const& d, std::size_t places, Support& support) {
    if (d.how == draw_method::exactly) return sample(on, d.from, places, d.count, support);
    double const p = d.how == draw_method::each ? d.p : d.from.word(0) < drawable(d.p) * 0x1p32 ? 1 : 0;
    sample_each(on, d.from, places, p, support);
}

}  // namespace laconic::messages
