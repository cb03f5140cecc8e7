// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>

#include "laconic/compress/full.hpp"
#include "laconic/core/text.hpp"

/// How pieces become one compressor: a sparsifier leaves the numbers it chose to its `rest`, which is `full` until a
/// pipe puts something else there. top_k{3} | quantize{8} is a top_k<quantize>; top_k{100} | rand_k{10} | natural{}
/// nests.
namespace laconic {

/// A sparsifier. Satisfied iff it has a member `rest` and with(r), itself with r in that place.
template <class C>
concept Sparsifier = requires(C const& c) {
    c.rest;
    c.with(full{});
};

/// a | b: b speaks where a left plain numbers.
template <SomeCompressor A, SomeCompressor C>
constexpr auto operator|(A const& a, C const& b) {
    static_assert(Sparsifier<A>,
                  "a | b: the left side ends in a quantizer, which leaves no plain numbers to the right one");
    if constexpr (std::same_as<std::remove_cvref_t<decltype(a.rest)>, full>)
        return a.with(b);
    else
        return a.with(a.rest | b);
}

namespace detail {

// How a piece and its rest are written: "top_k(3)", or "top_k(3) | natural".
template <class Rest>
std::string spelled(std::string const& piece, Rest const& rest) {
    return std::same_as<Rest, full> ? piece : piece + " | " + to_string(rest);
}

// The payload about scale x_i for the coordinates i in m.support.
template <class B, Scalar T, class M>
void speak_for_chosen(B& on, std::span<T const> x, T scale, M& m) {
    constexpr bool direct = std::same_as<decltype(m.rest), full>;
    auto& values = [&]() -> auto& {
        if constexpr (direct)
            return m.payload.values;
        else
            return m.chosen;
    }
    ();
    gather(on, x, std::span<coordinate const>(m.support), scale, values);
    if (scale != T(1))
        if (auto const j = first_non_finite(on, std::span<T const>(values)); j < values.size())
            throw argument_error("coordinate " + std::to_string(m.support[j]) + " times " +
                                 shortest(static_cast<double>(scale)) + " is not finite");
    if constexpr (!direct) m.rest(on, std::span<T const>(m.chosen), m.payload_key, m.payload);
}

// The start of a sparsifier's message about d numbers.
template <class M, class Rest>
void begin(M& m, std::size_t d, Rest const& rest, key from) {
    m.length = d;
    m.rest = rest;
    m.payload_key = from.child(0);
}

// blank() and the compression itself of a sparsifier whose support both ends draw: c.draw(on, d, key, support) fills
// it, and what is found there is multiplied by c.scale(d).
template <class B, class C, class M>
void blank_agreed(B& on, C const& c, std::size_t d, key from, M& m) {
    begin(m, d, c.rest, from);
    c.draw(on, d, from.child(1), m.support);
    c.rest.blank(on, m.support.size(), m.payload_key, m.payload);
}
template <class B, class C, Scalar T, class M>
void say_agreed(B& on, C const& c, std::span<T const> x, key from, M& m) {
    begin(m, x.size(), c.rest, from);
    c.draw(on, x.size(), from.child(1), m.support);
    speak_for_chosen(on, x, static_cast<T>(c.scale(x.size())), m);
}

// The probability that a 32-bit word can draw, at most p: what a scale of 1 / p must undo for an exact mean.
inline double drawable(double p) { return std::floor(p * 0x1p32) / 0x1p32; }

// What a rest keeps of the chosen numbers' energy: its delta, or 1 - omega of an unbiased one.
template <class Rest>
requires(Contractive<Rest> || Unbiased<Rest>) double kept_by(Rest const& rest, std::size_t n) {
    if constexpr (requires { rest.contractive(); }) {  // known at run time only
        if (rest.contractive()) return rest.delta(n);
    } else if constexpr (Contractive<Rest>) {
        return rest.delta(n);
    }
    if constexpr (Unbiased<Rest>) {
        double const omega = rest.omega(n);
        if (omega >= 1)
            throw theory_error(
                to_string(rest) + " has omega = " + shortest(omega) + " >= 1 on " + std::to_string(n) +
                " values, so a pipe that it ends is not contractive: take more levels or smaller buckets");
        return 1 - omega;
    }
}

}  // namespace detail
}  // namespace laconic
