// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

#include "laconic/compress/pipe.hpp"

/// The sparsifiers of which both ends draw from the key what travels, so that it costs no bits. All are unbiased with
/// an unbiased rest.
// A namespace of its own: else argument-dependent lookup would find all of detail for calls with these compressors.
namespace laconic::detail::drawing {

/// What they have in common. Of Self, for vectors of d numbers,
///   scale(d)             is the factor of the numbers that are sent;
/// and, where the defaults below do not suit,
///   check_own(d)         throws argument_error where its own parameters do not suit;
///   recipe(places, key)  says how the places are drawn;
///   counts(d)            are the possible counts of values sent; for each the rest is checked, and its omega taken.
template <template <class> class Self, class Rest, class Unit = messages::single_number>
struct drawn {
    Rest rest{};

    template <Scalar T, class B>
    using message = messages::sparse<Rest, messages::support_is::from_seed, T, B, Unit>;

    void check_own(std::size_t) const { check_fields(self()); }
    messages::draw recipe(std::size_t places, key from) const {
        return {messages::draw_method::exactly, self().k.of(places), 0, from};
    }
    auto counts(std::size_t d) const { return std::array{d}; }
    void check(std::size_t d) const {
        self().check_own(d);
        for (std::size_t const n : self().counts(d)) rest.check(n);
    }
    /// Makes all of the message about d numbers but its payload.
    void draw(auto& on, std::size_t d, key from, auto& m) const {
        begin_message(m, d, self(), from);
        m.drawn = self().recipe(m.places(), from.child(1));
        if (m.drawn.how != messages::draw_method::exactly)
            m.make_room(on, d, *this);
        else if (m.unit.length > 1)  // the last of which may be shorter
            m.make_room(on, std::min<std::size_t>(m.drawn.count * m.unit.length, d), *this);
        messages::draw_support(on, m.drawn, m.places(), m.support);
    }
    void blank(auto& on, std::size_t d, key from, auto& m) const {
        draw(on, d, from, m);
        m.expect_payload(on, *this);
    }
    template <Scalar T>
    void operator()(auto& on, std::span<T const> x, key from, auto& m) const {
        draw(on, x.size(), from, m);
        make_payload(on, x, static_cast<T>(self().scale(x.size())), *this, m);
    }
    bool unbiased() const requires Unbiased<Rest> { return is_unbiased(rest); }
    double omega(std::size_t d) const requires Unbiased<Rest> {
        double worst = 0;
        for (std::size_t const n : self().counts(d)) worst = std::max(worst, rest.omega(n));
        return std::max(0.0, self().scale(d) * (1 + worst) - 1);
    }

    bool operator==(drawn const&) const = default;

  private:
    Self<Rest> const& self() const { return static_cast<Self<Rest> const&>(*this); }
};

}  // namespace laconic::detail::drawing

namespace laconic {

/// Keeps k coordinates, every set of k equally likely, scaled by d / k. E|C(x) - x|^2 = (d / k - 1) |x|^2 exactly; with
/// an unbiased rest, omega = (d / k) (1 + omega of the rest) - 1.
template <class Rest = identity>
struct rand_k : detail::drawing::drawn<rand_k, Rest> {
    portion k;

    constexpr rand_k(portion k_ = 1, Rest rest_ = {}) : rand_k::drawn{rest_}, k(k_) {}  // NOLINT: a number of places

    static constexpr void description(auto&& describe) {
        describe("rand_k", "k coordinates at random; unbiased", "Stich et al., NeurIPS 2018",
                 field("k", &rand_k::k).needed());
    }
    void check_own(std::size_t d) const {
        k.check(d);
        detail::check_some("rand_k", k, d);
    }
    double scale(std::size_t d) const {
        auto const n = k.of(d);
        return n == 0 ? 0 : static_cast<double>(d) / static_cast<double>(n);
    }
    auto counts(std::size_t d) const { return std::array{k.of(d)}; }

    constexpr auto with(auto const& r) const { return rand_k<std::remove_cvref_t<decltype(r)>>{k, r}; }
    bool operator==(rand_k const&) const = default;
};

/// Keeps k blocks of `block` consecutive coordinates, every set of k blocks equally likely, scaled by blocks / k; the
/// last block may be shorter. k counts blocks, or is a fraction of them. E|C(x) - x|^2 = (blocks / k - 1) |x|^2
/// exactly, whatever the blocks' lengths; with an unbiased rest, omega = (blocks / k) (1 + omega of the rest) - 1. IBCD
/// and ISEGA use it ("99% of ... is a waste", arXiv:1901.09437).
template <class Rest = identity>
struct rand_block : detail::drawing::drawn<rand_block, Rest, messages::blocks> {
    portion k;
    std::size_t block;

    constexpr rand_block(portion k_ = 1, std::size_t block_ = 256, Rest rest_ = {})  // NOLINT: a number of blocks
        : rand_block::drawn{rest_}, k(k_), block(block_) {}

    static constexpr void description(auto&& describe) {
        describe("rand_block", "k blocks at random; unbiased", "arXiv:1901.09437", field("k", &rand_block::k).needed(),
                 detail::block_field(&rand_block::block).written_by_name());
    }
    void check_own(std::size_t d) const {
        detail::check_fields(*this);
        detail::check_blocks(k, d, block);
        detail::check_some("rand_block", k, d);
    }
    double scale(std::size_t d) const {
        auto const all = detail::pieces_in(d, block), n = k.of(all);
        return n == 0 ? 0 : static_cast<double>(all) / static_cast<double>(n);
    }
    auto counts(std::size_t d) const { return detail::numbers_in_blocks(d, block, k); }

    constexpr auto with(auto const& r) const { return rand_block<std::remove_cvref_t<decltype(r)>>{k, block, r}; }
    bool operator==(rand_block const&) const = default;
};

/// Random dropout: keeps each coordinate with probability p, independently, scaled by 1 / p. E|C(x) - x|^2 = (1 / p -
/// 1) |x|^2 exactly; with an unbiased rest, omega = (1 + the largest omega of the rest for 1 .. d values) / p - 1,
/// found in d steps. p is in [2^-32, 1].
template <class Rest = identity>
struct bernoulli : detail::drawing::drawn<bernoulli, Rest> {
    double p;

    constexpr bernoulli(double p_ = 0.5, Rest rest_ = {}) : bernoulli::drawn{rest_}, p(p_) {}  // NOLINT: a probability

    static constexpr void description(auto&& describe) {
        describe("bernoulli", "each coordinate with probability p; unbiased", "",
                 field("p", &bernoulli::p).between(0x1p-32, 1).needed());
    }
    messages::draw recipe(std::size_t, key from) const { return {messages::draw_method::each, 0, p, from}; }
    double scale(std::size_t) const { return 1 / messages::drawable(p); }
    double omega(std::size_t d) const requires Unbiased<Rest> {
        return scale(d) * (1 + detail::largest_omega(this->rest, d)) - 1;
    }

    constexpr auto with(auto const& r) const { return bernoulli<std::remove_cvref_t<decltype(r)>>{p, r}; }
    bool operator==(bernoulli const&) const = default;
};

/// All or nothing: sends the whole vector, scaled by 1 / p, with probability p, and nothing otherwise. E|C(x) - x|^2 =
/// (1 / p - 1) |x|^2 exactly; with an unbiased rest, omega = (1 + omega of the rest) / p - 1. p is in [2^-32, 1].
template <class Rest = identity>
struct lazy : detail::drawing::drawn<lazy, Rest> {
    double p;

    constexpr lazy(double p_ = 0.5, Rest rest_ = {}) : lazy::drawn{rest_}, p(p_) {}  // NOLINT: a probability

    static constexpr void description(auto&& describe) {
        describe("lazy", "all with probability p, or nothing; unbiased", "",
                 field("p", &lazy::p).between(0x1p-32, 1).needed());
    }
    messages::draw recipe(std::size_t, key from) const { return {messages::draw_method::all_or_none, 0, p, from}; }
    double scale(std::size_t) const { return 1 / messages::drawable(p); }

    constexpr auto with(auto const& r) const { return lazy<std::remove_cvref_t<decltype(r)>>{p, r}; }
    bool operator==(lazy const&) const = default;
};

}  // namespace laconic
