// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "laconic/backend/host/memory.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/view.hpp"

/// Sums of vectors, each in one pass.
namespace laconic {

/// y += a x, for x and y of one length.
template <class A, Scalar T>
void add_scaled(basic_host<A>&, T a, std::span<T const> x, std::span<T> y) {
    LACONIC_EXPECTS(x.size() == y.size());
    using pack = simd::pack<T, A>;
    auto const scale = pack::all(a);
    std::size_t i = 0;
    for (; i + pack::width <= x.size(); i += pack::width)
        (pack::load(y.data() + i) + scale * pack::load(x.data() + i)).store(y.data() + i);
    for (; i < x.size(); ++i) y[i] += a * x[i];
}

/// x *= a.
template <class A, Scalar T>
void multiply(basic_host<A>&, T a, std::span<T> x) {
    for (T& v : x) v *= a;
}

/// g += e - h; an empty span stands for zeros. What a worker has to say that is news.
template <class A, Scalar T>
void subtract_known_add_unsaid(basic_host<A>&, std::span<T> g, std::span<T const> h, std::span<T const> e) {
    LACONIC_EXPECTS((h.empty() || h.size() == g.size()) && (e.empty() || e.size() == g.size()));
    using pack = simd::pack<T, A>;
    auto const pass = [&](auto known, auto unsaid) {
        auto const value = [&](auto at, std::size_t i) {
            auto v = at(g.data() + i);
            if constexpr (known) v = v - at(h.data() + i);
            if constexpr (unsaid) v = v + at(e.data() + i);
            return v;
        };
        std::size_t i = 0;
        for (; i + pack::width <= g.size(); i += pack::width)
            value([](T const* p) { return pack::load(p); }, i).store(g.data() + i);
        for (; i < g.size(); ++i) g[i] = value([](T const* p) { return *p; }, i);
    };
    if (!h.empty() && !e.empty()) return pass(std::true_type{}, std::true_type{});
    if (!h.empty()) return pass(std::true_type{}, std::false_type{});
    if (!e.empty()) return pass(std::false_type{}, std::true_type{});
}

/// (m, h) <- (m + h, h + a m): the mean of what was said becomes an estimate, and is remembered.
template <class A, Scalar T>
void complete_and_remember(basic_host<A>&, std::span<T> m, T a, std::span<T> h) {
    LACONIC_EXPECTS(m.size() == h.size());
    using pack = simd::pack<T, A>;
    auto const scale = pack::all(a);
    std::size_t i = 0;
    for (; i + pack::width <= m.size(); i += pack::width) {
        auto const said = pack::load(m.data() + i), known = pack::load(h.data() + i);
        (said + known).store(m.data() + i);
        (known + scale * said).store(h.data() + i);
    }
    for (; i < m.size(); ++i) {
        T const said = m[i];
        m[i] = said + h[i];
        h[i] += a * said;
    }
}

/// bounds_i = a |x_i - y_i|: how far each coordinate has moved.
template <class A, Scalar T>
void scaled_distances(basic_host<A>&, T a, std::span<T const> x, std::span<T const> y, std::span<T> bounds) {
    LACONIC_EXPECTS(x.size() == y.size() && x.size() == bounds.size());
    for (std::size_t i = 0; i < x.size(); ++i) bounds[i] = a * std::abs(x[i] - y[i]);
}

/// out_i += w v for every term v e_i of a message: the one decoder. Terms in order of coordinates without gaps (a
/// property of their type) are a plain sum of vectors.
template <class A, Scalar T, class Terms>
void add_terms(basic_host<A>&, std::span<T> out, T w, Terms terms) {
    if constexpr (Terms::in_order) {
        LACONIC_EXPECTS(terms.size() == out.size());
        for (std::size_t j = 0; j < out.size(); ++j) out[j] += w * static_cast<T>(terms[j].value);
    } else {
        for (std::size_t j = 0; j < terms.size(); ++j) {
            auto const t = terms[j];
            LACONIC_EXPECTS_COSTLY(t.at < out.size());
            out[t.at] += w * static_cast<T>(t.value);
        }
    }
}

/// |y_i| <- max(|y_i|, least) x factor, the signs as they are. One pass.
template <class A, Scalar T>
void raise_magnitudes(basic_host<A>&, T least, T factor, std::span<T> y) {
    for (T& v : y) v = std::copysign(std::max(std::abs(v), least), v) * factor;
}

}  // namespace laconic
