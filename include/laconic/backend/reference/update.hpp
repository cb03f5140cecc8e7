// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "laconic/backend/reference/memory.hpp"
#include "laconic/core/view.hpp"

namespace laconic {

template <Scalar T>
void add_scaled(reference&, T a, std::span<T const> x, std::span<T> y) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] += a * x[i];
}
template <Scalar T>
void multiply(reference&, T a, std::span<T> x) {
    for (T& v : x) v *= a;
}
template <Scalar T>
void subtract_known_add_unsaid(reference&, std::span<T> g, std::span<T const> h, std::span<T const> e) {
    for (std::size_t i = 0; i < g.size(); ++i) {
        if (!h.empty()) g[i] -= h[i];
        if (!e.empty()) g[i] += e[i];
    }
}
template <Scalar T>
void complete_and_remember(reference&, std::span<T> m, T a, std::span<T> h) {
    for (std::size_t i = 0; i < m.size(); ++i) {
        T const said = m[i];
        m[i] += h[i];
        h[i] += a * said;
    }
}
template <Scalar T>
void scaled_distances(reference&, T a, std::span<T const> x, std::span<T const> y, std::span<T> bounds) {
    for (std::size_t i = 0; i < x.size(); ++i) bounds[i] = a * std::abs(x[i] - y[i]);
}
template <Scalar T, class Terms>
void add_terms(reference&, std::span<T> out, T w, Terms terms) {
    for (std::size_t j = 0; j < terms.size(); ++j) out[terms[j].at] += w * static_cast<T>(terms[j].value);
}

template <Scalar T>
void raise_magnitudes(reference&, T least, T factor, std::span<T> y) {
    for (T& v : y) v = std::copysign(std::max(std::abs(v), least), v) * factor;
}

}  // namespace laconic
