// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "laconic/compress/pipe.hpp"
#include "laconic/core/portion.hpp"
#include "laconic/message/sparse.hpp"

namespace laconic {

/// Keeps k coordinates, every set of k equally likely, scaled by d / k. Both ends draw the set from the key, so it
/// costs no bits. Unbiased with E|C(x) - x|^2 = (d / k - 1) |x|^2 exactly; with an unbiased rest, omega = (d / k) (1 +
/// omega of the rest) - 1.
template <class Rest = full>
struct rand_k {
    portion k = 1;
    Rest rest{};

    template <Scalar T, class B>
    using message = sparse<Rest, support_is::agreed, T, B>;

    void check(std::size_t d) const {
        k.check(d);
        if (k.value == 0 && d > 0) throw argument_error("rand_k: k = 0 says nothing, and no scale makes that unbiased");
        rest.check(k.of(d));
    }
    template <class B, Scalar T>
    void blank(B& on, std::size_t d, key from, message<T, B>& m) const {
        draw(on, d, from, m);
        rest.blank(on, m.support.size(), m.payload_key, m.payload);
    }
    template <class B, Scalar T>
    void operator()(B& on, std::span<T const> x, key from, message<T, B>& m) const {
        draw(on, x.size(), from, m);
        auto const scale = static_cast<double>(x.size()) / static_cast<double>(m.support.size());
        detail::speak_for_chosen(on, x, static_cast<T>(m.support.empty() ? 0 : scale), m);
    }
    double omega(std::size_t d) const requires Unbiased<Rest> {
        auto const n = k.of(d);
        return d == 0 ? 0 : static_cast<double>(d) / static_cast<double>(n) * (1 + rest.omega(n)) - 1;
    }

    template <class R>
    constexpr auto with(R const& r) const {
        return rand_k<R>{k, r};
    }
    bool operator==(rand_k const&) const = default;
    friend std::string to_string(rand_k const& c) { return detail::spelled("rand_k(" + to_string(c.k) + ")", c.rest); }

  private:
    template <class B, class M>
    void draw(B& on, std::size_t d, key from, M& m) const {
        m.length = d;
        m.rest = rest;
        m.payload_key = from.child(0);
        sample(on, from.child(1), d, k.of(d), m.support);
    }
};
template <class N>
rand_k(N) -> rand_k<>;

static_assert(Compressor<rand_k<>> && Compressor<rand_k<>, float> && Unbiased<rand_k<>> && !Contractive<rand_k<>>);

}  // namespace laconic
