// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "laconic/compress/pipe.hpp"

namespace laconic {

/// Random dropout: keeps each coordinate with probability p, independently, scaled by 1 / p. Both ends draw the set
/// from the key, so it costs no bits. Unbiased with E|C(x) - x|^2 = (1 / p - 1) |x|^2 exactly; with an unbiased rest,
/// omega = (1 + the largest omega of the rest for 1 .. d values) / p - 1, found in d steps. p is in [2^-32, 1].
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
    template <class B, Scalar T>
    void blank(B& on, std::size_t d, key from, message<T, B>& m) const {
        detail::blank_drawn(on, *this, d, from, m);
    }
    template <class B, Scalar T>
    void operator()(B& on, std::span<T const> x, key from, message<T, B>& m) const {
        detail::compress_drawn(on, *this, x, from, m);
    }
    /// How the coordinates that travel are drawn from the key, and the factor of their values.
    messages::draw recipe(std::size_t, key from) const { return {messages::draw_method::each, 0, p, from}; }
    double scale(std::size_t) const { return 1 / messages::drawable(p); }
    bool unbiased() const requires Unbiased<Rest> { return is_unbiased(rest); }
    double omega(std::size_t d) const requires Unbiased<Rest> {
        return (1 + detail::largest_omega(rest, d)) / messages::drawable(p) - 1;
    }

    template <class R>
    constexpr auto with(R const& r) const {
        return bernoulli<R>{p, r};
    }
    bool operator==(bernoulli const&) const = default;
};
template <class N>
bernoulli(N) -> bernoulli<>;

}  // namespace laconic
