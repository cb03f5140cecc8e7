// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "laconic/backend/device/memory.hpp"
#include "laconic/backend/device/passes.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/view.hpp"

/// Sums of vectors, each in one pass; every product is rounded before it is added. The formulas stand at the host's
/// forms.
namespace laconic::detail::on_device {

template <Scalar T>
struct add_product {
    T a;
    T const* x;
    T* y;
    LACONIC_HOST_DEVICE void operator()(std::size_t i) const { y[i] += product(a, x[i]); }
};
template <Scalar T>
struct multiply_by {
    T a;
    T* x;
    LACONIC_HOST_DEVICE void operator()(std::size_t i) const { x[i] *= a; }
};
// An absent h or e is null. *odd becomes 1 where a result is not finite.
template <Scalar T>
struct compensated {
    T a, b;
    T const *g, *h, *e;
    T* out;
    std::uint32_t* odd;
    LACONIC_HOST_DEVICE void operator()(std::size_t i) const {
        T v = product(a, g[i]);
        if (h != nullptr) v -= h[i];
        if (e != nullptr) v += product(b, e[i]);
        out[i] = v;
        if (magnitude_bits(v) >= infinite_bits<T>) raise_together(*odd, 1u);
    }
};
template <Scalar T>
struct subtract_and_keep {
    T* g;
    T const* last;
    T* next;
    LACONIC_HOST_DEVICE void operator()(std::size_t i) const {
        T const now = g[i];
        g[i] = now - last[i];
        next[i] = now;
    }
};
template <Scalar T>
struct add_momentum {
    T a;
    bool nesterov;
    T* g;
    T const *u, *v;
    T* next;
    LACONIC_HOST_DEVICE void operator()(std::size_t i) const {
        T const now = g[i], before = u[i], residual = v[i];
        T const momentum = nesterov ? product(a, before + now) : product(a, before) + now;
        next[i] = momentum;
        g[i] = (nesterov ? now + momentum : momentum) + residual;
    }
};
template <Scalar T>
struct complete {
    T* m;
    T a;
    T* h;
    LACONIC_HOST_DEVICE void operator()(std::size_t i) const {
        T const sent = m[i], shift = h[i];
        m[i] = sent + shift;
        h[i] = shift + product(a, sent);
    }
};
template <Scalar T>
struct scaled_distance {
    T a;
    T const *x, *y;
    T* bounds;
    LACONIC_HOST_DEVICE void operator()(std::size_t i) const { bounds[i] = a * std::abs(x[i] - y[i]); }
};
template <Scalar T, class Terms>
struct add_term {
    T* out;
    T w;
    Terms terms;
    LACONIC_HOST_DEVICE void operator()(std::size_t j) const {
        auto const t = terms[j];
        out[t.at] += product(w, static_cast<T>(t.value));
    }
};
template <Scalar T, class Terms>
struct clear_term {
    T* out;
    Terms terms;
    LACONIC_HOST_DEVICE void operator()(std::size_t j) const {
        if (auto const t = terms[j]; static_cast<T>(t.value) != 0) out[t.at] = 0;
    }
};

}  // namespace laconic::detail::on_device

namespace laconic::kernels {

/// y += a x.
template <Scalar T>
void add_scaled(device& on, T a, std::span<T const> x, std::span<T> y) {
    LACONIC_EXPECTS(x.size() == y.size());
    detail::on_device::for_each_index(on, x.size(), detail::on_device::add_product<T>{a, x.data(), y.data()});
}

/// x *= a.
template <Scalar T>
void multiply(device& on, T a, std::span<T> x) {
    detail::on_device::for_each_index(on, x.size(), detail::on_device::multiply_by<T>{a, x.data()});
}

/// out <- a g - h + b e, where an empty h or e stands for zeros, and out may be g. True where all of it is finite;
/// waits for that.
template <Scalar T>
bool compensate(device& on, T a, std::span<T const> g, std::span<T const> h, T b, std::span<T const> e,
                std::span<T> out) {
    LACONIC_EXPECTS((h.empty() || h.size() == g.size()) && (e.empty() || e.size() == g.size()));
    LACONIC_EXPECTS(out.size() == g.size());
    using namespace detail::on_device;
    auto* const odd = on.scratch<std::uint32_t>(scratch_for::result, 1).data();
    clear_bytes(on, odd, sizeof *odd);
    auto const data = [](std::span<T const> v) { return v.empty() ? nullptr : v.data(); };
    for_each_index(on, g.size(), compensated<T>{a, b, data(g), data(h), data(e), out.data(), odd});
    return fetched(on, odd) == 0;
}

/// (g, last) <- (g - last, g), the old g to `next`.
template <Scalar T>
void subtract_last(device& on, std::span<T> g, std::span<T const> last, std::span<T> next) {
    LACONIC_EXPECTS(g.size() == last.size() && g.size() == next.size());
    detail::on_device::for_each_index(on, g.size(),
                                      detail::on_device::subtract_and_keep<T>{g.data(), last.data(), next.data()});
}

/// next <- a u + g, g <- next + v; with Nesterov's momentum next <- a (u + g), g <- g + next + v.
template <Scalar T>
void gather_momentum(device& on, T a, bool nesterov, std::span<T> g, std::span<T const> u, std::span<T const> v,
                     std::span<T> next) {
    LACONIC_EXPECTS(g.size() == u.size() && g.size() == v.size() && g.size() == next.size());
    using pass = detail::on_device::add_momentum<T>;
    detail::on_device::for_each_index(on, g.size(), pass{a, nesterov, g.data(), u.data(), v.data(), next.data()});
}

/// (m, h) <- (m + h, h + a m).
template <Scalar T>
void complete_and_remember(device& on, std::span<T> m, T a, std::span<T> h) {
    LACONIC_EXPECTS(m.size() == h.size());
    detail::on_device::for_each_index(on, m.size(), detail::on_device::complete<T>{m.data(), a, h.data()});
}

/// bounds_i = a |x_i - y_i|.
template <Scalar T>
void scaled_distances(device& on, T a, std::span<T const> x, std::span<T const> y, std::span<T> bounds) {
    LACONIC_EXPECTS(x.size() == y.size() && x.size() == bounds.size());
    using pass = detail::on_device::scaled_distance<T>;
    detail::on_device::for_each_index(on, x.size(), pass{a, x.data(), y.data(), bounds.data()});
}

/// out_i += w v for every term v e_i of a message: the one decoder. The terms have different coordinates; what they
/// are made of is on the device, and their operator[] is constexpr.
template <Scalar T, class Terms>
void add_terms(device& on, std::span<T> out, T w, Terms terms) {
    detail::on_device::for_each_index(on, terms.size(), detail::on_device::add_term<T, Terms>{out.data(), w, terms});
}

/// out_i <- 0 for every term v e_i whose v, as a T, is not 0.
template <Scalar T, class Terms>
void clear_terms(device& on, std::span<T> out, Terms terms) {
    detail::on_device::for_each_index(on, terms.size(), detail::on_device::clear_term<T, Terms>{out.data(), terms});
}

}  // namespace laconic::kernels
