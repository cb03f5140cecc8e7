// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>

#include "laconic/compress/identity.hpp"
#include "laconic/message/sparse.hpp"

/// How pieces become one compressor: a sparsifier hands the numbers that it chose to its `rest`, which is `identity`
/// until a pipe replaces it. top_k{3} | quantize{8} is a top_k<quantize>; top_k{100} | rand_k{10} | natural{} nests.
namespace laconic {

namespace detail {

/// A sparsifier. Satisfied iff it has a member `rest` and with(r), which is itself with r in that place.
template <class C>
concept Sparsifier = requires(C const& c) {
    c.rest;
    c.with(identity{});
};

}  // namespace detail

/// The sparsifier that keeps every coordinate: dense | quantize{4} makes the same messages as quantize{4} alone.
template <class Rest = identity>
struct dense {
    Rest rest{};

    static constexpr void description(auto&& describe) { describe("dense", "every coordinate", ""); }

    template <Scalar T, class B>
    using message = detail::message_of<Rest, T, B>;

    void check(std::size_t d) const { rest.check(d); }
    void blank(auto& on, std::size_t d, key from, auto& m) const { rest.blank(on, d, from, m); }
    void operator()(auto& on, auto x, key from, auto& m) const { rest(on, x, from, m); }
    void read_message(auto& on, auto& source, auto& m) const { read(on, source, m, rest); }
    bool unbiased() const requires Unbiased<Rest> { return is_unbiased(rest); }
    bool contractive() const requires Contractive<Rest> { return is_contractive(rest); }
    double omega(std::size_t d) const requires Unbiased<Rest> { return rest.omega(d); }
    double delta(std::size_t d) const requires Contractive<Rest> { return rest.delta(d); }

    constexpr auto with(auto const& r) const { return dense<std::remove_cvref_t<decltype(r)>>{r}; }
    bool operator==(dense const&) const = default;
};

/// a | b: b compresses the values that a chose, in place of a's innermost `identity`.
template <detail::SomeCompressor A, detail::SomeCompressor C>
constexpr auto operator|(A const& a, C const& b) {
    static_assert(detail::Sparsifier<A>,
                  "a | b: the left side ends in a quantizer, which leaves no plain numbers to the right one");
    if constexpr (std::same_as<std::remove_cvref_t<decltype(a.rest)>, identity>)
        return a.with(b);
    else
        return a.with(a.rest | b);
}
// A type that has a message and yet is no compressor lacks a member.
template <detail::SomeCompressor A, class C>
requires(!detail::SomeCompressor<C> && requires { typename detail::message_of<C>; }) constexpr A operator|(A const& a,
                                                                                                           C const&) {
    static_assert(detail::require_compressor<C>());
    return a;
}

}  // namespace laconic

namespace laconic::messages {

/// Ends a sparsifier's compression: makes the payload from scale x_i for the coordinates i in m.support, which ascend,
/// by c's rest. Throws argument_error where one of them is not finite.
template <class B, Scalar T, class C, class M>
void make_payload(B& on, std::span<T const> x, T scale, C const& c, M& m) {
    constexpr bool direct = std::same_as<std::remove_const_t<decltype(c.rest)>, identity>;
    auto& values = [&]() -> auto& {
        if constexpr (direct)
            return m.payload.values;
        else
            return m.chosen;
    }
    ();
    gather(on, x, std::span<coordinate const>(m.support), m.unit.length, scale, values);
    if (scale != T(1))
        if (auto const j = first_non_finite(on, std::span<T const>(values)); j < values.size()) {
            std::size_t const unit = m.unit.length;
            std::size_t const place = kernels::element(on, std::span<coordinate const>(m.support), j / unit);
            throw argument_error(
                {"coordinate ", place * unit + j % unit, " times ", static_cast<double>(scale), " is not finite"});
        }
    if constexpr (!direct) c.rest(on, std::span<T const>(m.chosen), m.payload_key, m.payload);
}

}  // namespace laconic::messages

namespace laconic::detail {

// Throws argument_error for k = 0 of numbers that there are: no scale makes nothing unbiased.
[[gnu::cold]] inline void check_some(char const* name, portion k, std::size_t d) {
    if (k.value == 0 && d > 0)
        throw argument_error({name,
                              ": k = 0 is neither a count from 1 on nor a fraction between 0 and 1, and no "
                              "scale makes nothing unbiased"});
}

// The text of a piece and its rest: "top_k(3)", or "top_k(3) | natural".
template <class Rest>
std::string text_of(std::string const& piece, Rest const& rest) {
    return std::same_as<Rest, identity> ? piece : concat({piece, " | ", to_string(rest)});
}

// blank() of a sparsifier whose support is listed, and has places for `most` numbers at most.
void blank_listed(auto& on, auto const& c, std::size_t d, key from, auto& m, std::size_t most) {
    begin_message(m, d, c, from);
    m.make_room(on, most, c);
    m.support.resize(0);
    m.expect_payload(on, c);
}
// How many numbers are in k of the blocks of d numbers: with the last block, which may be shorter, or without it.
inline std::array<std::size_t, 2> numbers_in_blocks(std::size_t d, std::size_t block, portion k) {
    std::size_t const all = pieces_in(d, block), n = k.of(all), most = std::min(n * block, d);
    return {most, n == 0 ? 0 : n * block - (all * block - d)};
}
// Throws argument_error unless k is a number of blocks in d numbers, or a fraction of them.
[[gnu::cold]] inline void check_blocks(portion k, std::size_t d, std::size_t block) {
    std::size_t const all = pieces_in(d, block);
    if (k.value > static_cast<double>(all) && k.value == std::floor(k.value))
        throw argument_error({"k = ", to_string(k), " is above the ", all, " blocks of ", block,
                              " numbers into which d = ", d, " numbers are cut"});
    k.check(all);
}
constexpr auto block_field(auto member) {
    return field("block", member).between(1, static_cast<double>(largest_dimension));
}

// The largest omega of a rest for 1 .. d numbers, for sparsifiers that choose a random number of them. d steps.
template <class Rest>
double largest_omega(Rest rest, std::size_t d) {
    double worst = 0;
    if constexpr (!std::same_as<Rest, identity>)
        for (std::size_t n = 1; n <= d; ++n) worst = std::max(worst, rest.omega(n));
    return worst;
}

// The share of the chosen numbers' energy that a rest keeps: its delta, or 1 - omega of an unbiased one. Throws
// theory_error where that omega is 1 or more.
template <class Rest>
concept KeepsShare = Contractive<Rest> || Unbiased<Rest>;
bool keeps_share(KeepsShare auto const& rest) { return is_contractive(rest) || is_unbiased(rest); }
template <KeepsShare Rest>
double kept_by(Rest const& rest, std::size_t n) {
    if constexpr (!Unbiased<Rest>) {
        return rest.delta(n);
    } else {
        if constexpr (Contractive<Rest>)
            if (is_contractive(rest)) return rest.delta(n);
        double const omega = rest.omega(n);
        if (omega >= 1)
            throw theory_error({to_string(rest), " has omega = ", omega, " >= 1 on ", n,
                                " values, so a pipe that it ends is not contractive: take more levels or smaller "
                                "buckets, or scaled_down of it"});
        return 1 - omega;
    }
}

}  // namespace laconic::detail
