// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "laconic/backend/device/passes.hpp"

/// Sums of vectors, and what is done to the numbers of one, each in one pass; every product is rounded before it is
/// added. Contracts stand at the host's forms.
namespace laconic::kernels {

template <Scalar T>
void add_scaled(device& on, T a, std::span<T const> x, std::span<T> y) {
    LACONIC_EXPECTS(x.size() == y.size());
    using namespace detail::on_device;
    for_each_index(on, x.size(), [=] LACONIC_DEVICE(std::size_t i) { y[i] += rounded_product(a, x[i]); });
}

template <class F>
void at_each_index(device& on, std::size_t n, F f) {
    detail::on_device::for_each_index(on, n, f);
}

template <Scalar T>
void multiply(device& on, T a, std::span<T> x) {
    detail::on_device::for_each_index(on, x.size(), [=] LACONIC_DEVICE(std::size_t i) { x[i] *= a; });
}

/// Waits to learn whether all is finite.
template <Scalar T>
bool compensate(device& on, T a, std::span<T const> g, std::span<T const> h, T b, std::span<T const> e,
                std::span<T> out) {
    LACONIC_EXPECTS((h.empty() || h.size() == g.size()) && (e.empty() || e.size() == g.size()));
    LACONIC_EXPECTS(out.size() == g.size());
    using namespace detail::on_device;
    auto* const odd = on.scratch<std::uint32_t>(scratch_for::result, 1).data();
    clear_bytes(on, odd, sizeof *odd);
    bool const shift = !h.empty(), residual = !e.empty();
    for_each_index(on, g.size(), [=] LACONIC_DEVICE(std::size_t i) {
        T v = rounded_product(a, g[i]);
        if (shift) v -= h[i];
        if (residual) v += rounded_product(b, e[i]);
        out[i] = v;
        if (magnitude_bits(v) >= infinite_bits<T>) raise_together(*odd, 1u);
    });
    return fetched(on, odd) == 0;
}

template <Scalar T>
void complete_and_remember(device& on, std::span<T> m, T a, std::span<T> h) {
    LACONIC_EXPECTS(m.size() == h.size());
    using namespace detail::on_device;
    for_each_index(on, m.size(), [=] LACONIC_DEVICE(std::size_t i) {
        T const sent = m[i], shift = h[i];
        m[i] = sent + shift;
        h[i] = shift + rounded_product(a, sent);
    });
}

/// The terms have different coordinates; what they are made of is on the device, and their operator[] is constexpr.
template <Scalar T, class Terms>
void add_terms(device& on, std::span<T> out, T w, Terms terms) {
    using namespace detail::on_device;
    for_each_index(on, terms.size(), [=] LACONIC_DEVICE(std::size_t j) {
        auto const t = terms[j];
        out[t.at] += rounded_product(w, static_cast<T>(t.value));
    });
}

template <Scalar T, class Terms>
void clear_terms(device& on, std::span<T> out, Terms terms) {
    detail::on_device::for_each_index(on, terms.size(), [=] LACONIC_DEVICE(std::size_t j) {
        if (auto const t = terms[j]; static_cast<T>(t.value) != 0) out[t.at] = 0;
    });
}

template <Scalar T>
void soft_threshold(device& on, T by, std::span<T> x) {
    detail::on_device::for_each_index(on, x.size(), [=] LACONIC_DEVICE(std::size_t i) {
        T const v = x[i];
        x[i] = v > by ? v - by : v < -by ? v + by : T(0);
    });
}

template <Scalar T>
void raise_magnitudes(device& on, T least, T factor, std::span<T> y) {
    detail::on_device::for_each_index(on, y.size(), [=] LACONIC_DEVICE(std::size_t i) {
        T const size = std::abs(y[i]);
        y[i] = std::copysign(size < least ? least : size, y[i]) * factor;
    });
}

}  // namespace laconic::kernels
