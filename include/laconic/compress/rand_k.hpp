// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "laconic/compress/pipe.hpp"

/// The sparsifiers of which both ends draw from the key what travels, so that it costs no bits: recipe(places, key)
/// says how, and scale(d) is the factor of the values found there. All are unbiased with an unbiased rest.
namespace laconic {

/// Keeps k coordinates, every set of k equally likely, scaled by d / k. E|C(x) - x|^2 = (d / k - 1) |x|^2 exactly; with
/// an unbiased rest, omega = (d / k) (1 + omega of the rest) - 1.
template <class Rest = identity>
struct rand_k {
    portion k = 1;
    Rest rest{};

    static constexpr void description(auto&& describe) {
        describe("rand_k", "k coordinates at random; unbiased", "Stich et al., NeurIPS 2018",
                 field("k", &rand_k::k).needed());
    }

    template <Scalar T, class B>
    using message = messages::sparse<Rest, messages::support_is::from_seed, T, B>;

    void check(std::size_t d) const {
        k.check(d);
        detail::check_some("rand_k", k, d);
        rest.check(k.of(d));
    }
    void blank(auto& on, std::size_t d, key from, auto& m) const { detail::blank_drawn(on, *this, d, from, m); }
    void operator()(auto& on, auto x, key from, auto& m) const { detail::compress_drawn(on, *this, x, from, m); }
    messages::draw recipe(std::size_t places, key from) const {
        return {messages::draw_method::exactly, k.of(places), 0, from};
    }
    double scale(std::size_t d) const {
        auto const n = k.of(d);
        return n == 0 ? 0 : static_cast<double>(d) / static_cast<double>(n);
    }
    bool unbiased() const requires Unbiased<Rest> { return is_unbiased(rest); }
    double omega(std::size_t d) const requires Unbiased<Rest> {
        auto const n = k.of(d);
        return d == 0 ? 0 : static_cast<double>(d) / static_cast<double>(n) * (1 + rest.omega(n)) - 1;
    }

    constexpr auto with(auto const& r) const { return rand_k<std::remove_cvref_t<decltype(r)>>{k, r}; }
    bool operator==(rand_k const&) const = default;
};
template <class N, class R = identity>
rand_k(N, R = {}) -> rand_k<R>;

/// Keeps k blocks of `block` consecutive coordinates, every set of k blocks equally likely, scaled by blocks / k; the
/// last block may be shorter. k counts blocks, or is a fraction of them. E|C(x) - x|^2 = (blocks / k - 1) |x|^2
/// exactly, whatever the blocks' lengths; with an unbiased rest, omega = (blocks / k) (1 + omega of the rest) - 1. IBCD
/// and ISEGA use it ("99% of ... is a waste", arXiv:1901.09437).
template <class Rest = identity>
struct rand_block {
    portion k = 1;
    std::size_t block = 256;
    Rest rest{};

    static constexpr void description(auto&& describe) {
        describe("rand_block", "k blocks at random; unbiased", "arXiv:1901.09437", field("k", &rand_block::k).needed(),
                 detail::block_field(&rand_block::block).written_by_name());
    }

    template <Scalar T, class B>
    using message = messages::sparse<Rest, messages::support_is::from_seed, T, B, messages::blocks>;

    void check(std::size_t d) const {
        detail::check_fields(*this);
        detail::check_blocks(k, d, block);
        detail::check_some("rand_block", k, d);
        for (std::size_t const n : detail::numbers_in_blocks(d, block, k)) rest.check(n);
    }
    void blank(auto& on, std::size_t d, key from, auto& m) const { detail::blank_drawn(on, *this, d, from, m); }
    void operator()(auto& on, auto x, key from, auto& m) const { detail::compress_drawn(on, *this, x, from, m); }
    messages::draw recipe(std::size_t places, key from) const {
        return {messages::draw_method::exactly, k.of(places), 0, from};
    }
    double scale(std::size_t d) const {
        auto const all = detail::pieces_in(d, block), n = k.of(all);
        return n == 0 ? 0 : static_cast<double>(all) / static_cast<double>(n);
    }
    bool unbiased() const requires Unbiased<Rest> { return is_unbiased(rest); }
    double omega(std::size_t d) const requires Unbiased<Rest> {
        if (d == 0) return 0;
        double worst = 0;
        for (std::size_t const n : detail::numbers_in_blocks(d, block, k)) worst = std::max(worst, rest.omega(n));
        return scale(d) * (1 + worst) - 1;
    }

    constexpr auto with(auto const& r) const { return rand_block<std::remove_cvref_t<decltype(r)>>{k, block, r}; }
    bool operator==(rand_block const&) const = default;
};
template <class N, class R = identity>
rand_block(N, std::size_t = {}, R = {}) -> rand_block<R>;

/// Random dropout: keeps each coordinate with probability p, independently, scaled by 1 / p. E|C(x) - x|^2 = (1 / p -
/// 1) |x|^2 exactly; with an unbiased rest, omega = (1 + the largest omega of the rest for 1 .. d values) / p - 1,
/// found in d steps. p is in [2^-32, 1].
template <class Rest = identity>
struct bernoulli {
    double p = 0.5;
    Rest rest{};

    static constexpr void description(auto&& describe) {
        describe("bernoulli", "each coordinate with probability p; unbiased", "",
                 field("p", &bernoulli::p).between(0x1p-32, 1).needed());
    }

    template <Scalar T, class B>
    using message = messages::sparse<Rest, messages::support_is::from_seed, T, B>;

    void check(std::size_t d) const {
        detail::check_fields(*this);
        rest.check(d);
    }
    void blank(auto& on, std::size_t d, key from, auto& m) const { detail::blank_drawn(on, *this, d, from, m); }
    void operator()(auto& on, auto x, key from, auto& m) const { detail::compress_drawn(on, *this, x, from, m); }
    messages::draw recipe(std::size_t, key from) const { return {messages::draw_method::each, 0, p, from}; }
    double scale(std::size_t) const { return 1 / messages::drawable(p); }
    bool unbiased() const requires Unbiased<Rest> { return is_unbiased(rest); }
    double omega(std::size_t d) const requires Unbiased<Rest> {
        return (1 + detail::largest_omega(rest, d)) / messages::drawable(p) - 1;
    }

    constexpr auto with(auto const& r) const { return bernoulli<std::remove_cvref_t<decltype(r)>>{p, r}; }
    bool operator==(bernoulli const&) const = default;
};
template <class N, class R = identity>
bernoulli(N, R = {}) -> bernoulli<R>;

/// All or nothing: sends the whole vector, scaled by 1 / p, with probability p, and nothing otherwise. E|C(x) - x|^2 =
/// (1 / p - 1) |x|^2 exactly; with an unbiased rest, omega = (1 + omega of the rest) / p - 1. p is in [2^-32, 1].
template <class Rest = identity>
struct lazy {
    double p = 0.5;
    Rest rest{};

    static constexpr void description(auto&& describe) {
        describe("lazy", "all with probability p, or nothing; unbiased", "",
                 field("p", &lazy::p).between(0x1p-32, 1).needed());
    }

    template <Scalar T, class B>
    using message = messages::sparse<Rest, messages::support_is::from_seed, T, B>;

    void check(std::size_t d) const {
        detail::check_fields(*this);
        rest.check(d);
    }
    void blank(auto& on, std::size_t d, key from, auto& m) const { detail::blank_drawn(on, *this, d, from, m); }
    void operator()(auto& on, auto x, key from, auto& m) const { detail::compress_drawn(on, *this, x, from, m); }
    messages::draw recipe(std::size_t, key from) const { return {messages::draw_method::all_or_none, 0, p, from}; }
    double scale(std::size_t) const { return 1 / messages::drawable(p); }
    bool unbiased() const requires Unbiased<Rest> { return is_unbiased(rest); }
    double omega(std::size_t d) const requires Unbiased<Rest> {
        return (1 + rest.omega(d)) / messages::drawable(p) - 1;
    }

    constexpr auto with(auto const& r) const { return lazy<std::remove_cvref_t<decltype(r)>>{p, r}; }
    bool operator==(lazy const&) const = default;
};
template <class N, class R = identity>
lazy(N, R = {}) -> lazy<R>;

}  // namespace laconic
