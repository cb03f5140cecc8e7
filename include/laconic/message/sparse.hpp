// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>

#include "laconic/message/plain.hpp"
#include "laconic/message/term_list.hpp"

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
void draw_support(auto& on, draw const& d, std::size_t places, auto& support) {
    if (d.how == draw_method::exactly) return sample(on, d.from, places, d.count, support);
    double const p = d.how == draw_method::each ? d.p : d.from.word(0) < drawable(d.p) * 0x1p32 ? 1 : 0;
    sample_each(on, d.from, places, p, support);
}

/// What a receiver reads of a support.
enum class support_is {
    listed,       ///< the number of places, and the places
    fixed_count,  ///< the places; both ends know their number
    from_seed     ///< nothing: both ends draw the places from a shared key
};

/// A place of a support: one coordinate, or a block of consecutive ones.
struct single_number {
    static constexpr std::size_t length = 1;
};
struct blocks {
    std::size_t length = 1;
};

/// Some places of a vector of `length` numbers, ascending, and a message about the numbers found there. The last block
/// may be shorter than the others. Rest is the type of the compressor that makes the inner message. What a member here
/// takes as c is a sparsifier whose c.rest is that compressor.
template <class Rest, support_is Known, Scalar T, class B, class Unit = single_number>
struct sparse {
    using value_type = T;
    using payload_type = typename Rest::template message<T, B>;
    template <class Other>
    using for_backend = sparse<moved_to<Other, Rest>, Known, T, Other, Unit>;
    static constexpr support_is known = Known;

    std::size_t length = 0;
    [[no_unique_address]] Unit unit{};
    key payload_key{};
    draw drawn{};  ///< the recipe, where the support is drawn from a seed
    typename B::template array<coordinate> support;
    payload_type payload;
    mutable typename B::template array<T> chosen;  ///< workspace, not part of the message
    std::size_t room = 0;                          ///< the largest number of values that room was made for

    /// Makes room for n numbers, once, where the count differs from message to message. On the host, room for places
    /// and numbers is reserved and not touched; the rest's message about n numbers is touched once.
    void make_room(auto& on, std::size_t n, auto const& c) {
        if (room >= n) return;
        constexpr bool direct = std::is_same_v<payload_type, full_vector<T, B>>;
        if constexpr (OnHost<B>) {
            support.reserve(places());
            if constexpr (direct) {
                payload.values.reserve(n);
            } else {
                chosen.reserve(n);
                c.rest.blank(on, n, payload_key, payload);
            }
        } else {
            support.resize(places());
            c.rest.blank(on, n, payload_key, payload);
            if constexpr (!direct) {  // the kernels' workspaces, too
                chosen.resize(n);
                fill(on, std::span<T>(chosen), T(0));
                c.rest(on, std::span<T const>(chosen), payload_key, payload);
            }
        }
        room = n;
    }

    /// How many numbers there may be, in later messages of its kind too.
    std::size_t most_terms() const { return std::max(room, support.size() * unit.length); }

    /// The number of places of the vector, chosen or not.
    std::size_t places() const { return detail::pieces_in(length, unit.length); }

    /// How many numbers the support covers. `last` is the last place that is chosen.
    std::size_t numbers(std::size_t last) const {
        std::size_t const all = support.size() * unit.length;
        return last + 1 == places() ? all - (places() * unit.length - length) : all;
    }

    /// Makes room for a payload about the numbers of the support, which is complete.
    void expect_payload(auto& on, auto const& c) {
        std::size_t n = support.size();
        if constexpr (!std::is_same_v<Unit, single_number>)
            if (n > 0) n = numbers(kernels::element(on, std::span<coordinate const>(support), n - 1));
        c.rest.blank(on, n, payload_key, payload);
    }

    template <class Inner>
    struct terms_type {
        coordinate const* support;
        [[no_unique_address]] Unit unit;
        Inner inner;
        static constexpr bool in_order = false;
        constexpr std::size_t size() const { return inner.size(); }
        constexpr auto operator[](std::size_t j) const {
            auto t = inner[j];
            t.at = static_cast<coordinate>(support[t.at / unit.length] * unit.length + t.at % unit.length);
            return t;
        }
    };

    static auto fields(auto& m) { return std::tie(m.length, m.unit, m.payload_key, m.drawn, m.support, m.payload); }
    std::size_t dimension() const { return length; }
    // The last place may have fewer numbers than the others, and need not be among those that are sent.
    bool fits(std::size_t n) const {
        if (length != n || unit.length == 0 || support.size() > places()) return false;
        std::size_t const sent = payload.dimension(), all = support.size() * unit.length;
        bool const with_last = places() > 0 && !support.empty() && sent == numbers(places() - 1);
        return (sent == all || with_last) && detail::fits(payload, sent);
    }
    auto terms() const& requires TermMessage<payload_type> {
        auto const inner = payload.terms();
        return terms_type<std::remove_const_t<decltype(inner)>>{support.data(), unit, inner};
    }
    void terms() const&& = delete;
    friend bool operator==(sparse const& a, sparse const& b) {
        return a.length == b.length && a.unit.length == b.unit.length && a.support == b.support &&
               a.payload == b.payload;
    }
};

/// Begins a sparsifier's message about d numbers, in blank() and in the compression: the caller then makes m.support,
/// and calls m.expect_payload(on, c) or make_payload(). Of a message of blocks, these have c.block numbers. Throws
/// argument_error for more than 2^32 - 1 numbers.
void begin_message(auto& m, std::size_t d, auto const& c, key from) {
    check_dimension(d);
    m.length = d;
    if constexpr (requires { m.unit = {c.block}; }) m.unit = {c.block};
    m.payload_key = from.child(0);
}

/// A payload that cannot list its terms, as its type is chosen at run time, is decoded into the workspace first.
template <class Rest, class T, class B>
concept ChosenPayload = !TermMessage<typename Rest::template message<T, B>>;
template <class B, Scalar T, ChosenPayload<T, B> Rest, support_is Known, class Unit>
auto decoded_terms(B& on, sparse<Rest, Known, T, B, Unit> const& m) {
    using values = typename full_vector<T, B>::terms_type;
    m.chosen.resize(m.payload.dimension());
    fill(on, std::span<T>(m.chosen), T(0));
    add_message(on, std::span<T>(m.chosen), T(1), m.payload);
    return typename sparse<Rest, Known, T, B, Unit>::template terms_type<values>{
        m.support.data(), m.unit, {{m.chosen.data()}, m.chosen.size()}};
}
template <class B, Scalar T, ChosenPayload<T, B> Rest, support_is Known, class Unit>
void add_message(B& on, std::span<T> out, T w, sparse<Rest, Known, T, B, Unit> const& m) {
    add_terms(on, out, w, decoded_terms(on, m));
}
template <class B, Scalar T, ChosenPayload<T, B> Rest, support_is Known, class Unit>
bool append_terms(B& on, laconic::detail::term_list<T>& list, sparse<Rest, Known, T, B, Unit> const& m) {
    return list.append(decoded_terms(on, m));
}

}  // namespace laconic::messages
