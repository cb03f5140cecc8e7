// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "laconic/compress/pipe.hpp"

namespace laconic {

/// Keeps k coordinates, every set of k equally likely, scaled by d / k. Both ends draw the set from the key, so it
/// costs no bits. Unbiased with E|C(x) - x|^2 = (d / k - 1) |x|^2 exactly; with an unbiased rest, omega = (d / k) (1 +
/// omega of the rest) - 1.
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
    template <class B, Scalar T>
    void blank(B& on, std::size_t d, key from, message<T, B>& m) const {
        detail::blank_drawn(on, *this, d, from, m);
    }
    template <class B, Scalar T>
    void operator()(B& on, std::span<T const> x, key from, message<T, B>& m) const {
        detail::compress_drawn(on, *this, x, from, m);
    }
    /// How the coordinates that travel are drawn from the key, and the factor of their values.
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

    template <class R>
    constexpr auto with(R const& r) const {
        return rand_k<R>{k, r};
    }
    bool operator==(rand_k const&) const = default;
};
template <class N>
rand_k(N) -> rand_k<>;

}  // namespace laconic
