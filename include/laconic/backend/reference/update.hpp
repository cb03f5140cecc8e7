// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "laconic/backend/reference/memory.hpp"
#include "laconic/backend/settle.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/view.hpp"

namespace laconic::detail {

// a b, rounded before anything is added to it.
template <Scalar T>
T rounded_product(T a, T b) {
    T v = a * b;
    simd::settle(v);
    return v;
}

}  // namespace laconic::detail

namespace laconic::kernels {

template <Scalar T>
void add_scaled(reference&, T a, std::span<T const> x, std::span<T> y) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] += detail::rounded_product(a, x[i]);
}
template <Scalar T>
void multiply(reference&, T a, std::span<T> x) {
    for (T& v : x) v *= a;
}
template <Scalar T>
bool compensate(reference&, T a, std::span<T const> g, std::span<T const> h, T b, std::span<T const> e,
                std::span<T> out) {
    bool finite = true;
    for (std::size_t i = 0; i < g.size(); ++i) {
        out[i] = detail::rounded_product(a, g[i]);
        if (!h.empty()) out[i] -= h[i];
        if (!e.empty()) out[i] += detail::rounded_product(b, e[i]);
        finite = finite && std::isfinite(out[i]);
    }
    return finite;
}
template <Scalar T>
void subtract_last(reference&, std::span<T> g, std::span<T const> last, std::span<T> next) {
    for (std::size_t i = 0; i < g.size(); ++i) {
        next[i] = g[i];
        g[i] -= last[i];
    }
}
template <Scalar T>
void gather_momentum(reference&, T a, bool nesterov, std::span<T> g, std::span<T const> u, std::span<T const> v,
                     std::span<T> next) {
    for (std::size_t i = 0; i < g.size(); ++i) {
        next[i] = nesterov ? detail::rounded_product(a, u[i] + g[i]) : detail::rounded_product(a, u[i]) + g[i];
        g[i] = (nesterov ? g[i] + next[i] : next[i]) + v[i];
    }
}
template <Scalar T>
void complete_and_remember(reference&, std::span<T> m, T a, std::span<T> h) {
    for (std::size_t i = 0; i < m.size(); ++i) {
        T const sent = m[i];
        m[i] += h[i];
        h[i] += detail::rounded_product(a, sent);
    }
}
template <Scalar T>
void scaled_distances(reference&, T a, std::span<T const> x, std::span<T const> y, std::span<T> bounds) {
    for (std::size_t i = 0; i < x.size(); ++i) bounds[i] = a * std::abs(x[i] - y[i]);
}
template <Scalar T, class Terms>
void add_terms(reference&, std::span<T> out, T w, Terms terms) {
    for (std::size_t j = 0; j < terms.size(); ++j)
        out[terms[j].at] += detail::rounded_product(w, static_cast<T>(terms[j].value));
}

template <Scalar T>
void raise_magnitudes(reference&, T least, T factor, std::span<T> y) {
    for (T& v : y) v = std::copysign(std::max(std::abs(v), least), v) * factor;
}

template <Scalar T>
void soft_threshold(reference&, T by, std::span<T> x) {
    for (T& v : x) v = std::abs(v) > by ? std::copysign(std::abs(v) - by, v) : T(0);
}
template <Scalar T>
void clip_magnitudes(reference&, T most, std::span<T> x) {
    for (T& v : x)
        if (std::abs(v) > most) v = std::copysign(most, v);
}

template <Scalar T, class Terms>
void clear_terms(reference&, std::span<T> out, Terms terms) {
    for (std::size_t j = 0; j < terms.size(); ++j)
        if (static_cast<T>(terms[j].value) != 0) out[terms[j].at] = 0;
}
template <Scalar T>
void scatter(reference&, std::span<T const> values, std::span<coordinate const> at, std::size_t unit,
             std::span<T> out) {
    std::size_t next = 0;
    for (coordinate const u : at)
        for (std::size_t i = u * unit; i < std::min(out.size(), (u + 1) * unit); ++i) out[i] = values[next++];
}

}  // namespace laconic::kernels
