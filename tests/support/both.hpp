// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ranges>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "laconic/backend/reference.hpp"
#include "laconic/core/key.hpp"
#include "laconic/core/term.hpp"
#include "support/test.hpp"

// A backend beside the reference, and numbers of all kinds for both.
namespace both {

using laconic::coordinate;
using laconic::key;
using laconic::reference;
using coordinates = std::vector<coordinate>;

template <class B, class E>
auto there(B& on, std::vector<E> const& x) {
    typename B::template array<E> a(x.size());
    copy_from_host(on, std::span<E const>(x), std::span<E>(a));
    return a;
}
template <class B, class Array>
auto here(B& on, Array const& a) {
    using E = std::remove_cvref_t<decltype(*a.data())>;
    std::vector<E> x(a.size());
    copy_to_host(on, std::span<E const>(a), std::span<E>(x));
    return x;
}
template <class Array>
auto in(Array const& a) {
    return std::span(a.data(), a.size());
}
template <class Array>
auto out(Array& a) {
    return std::span(a.data(), a.size());
}

/// Equal to the bit; all NaNs are alike.
template <class T>
bool same_bits(T const& a, T const& b) {
    if constexpr (std::floating_point<T>) {
        using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
        return std::bit_cast<bits>(a) == std::bit_cast<bits>(b) || (std::isnan(a) && std::isnan(b));
    } else if constexpr (std::ranges::range<T>) {
        return std::ranges::equal(a, b, [](auto const& v, auto const& w) { return same_bits(v, w); });
    } else if constexpr (requires { a.first; }) {
        return same_bits(a.first, b.first) && same_bits(a.second, b.second);
    } else {
        return a == b;
    }
}

/// Whether kernel(backend, arrays..), on B and on the reference, returns the same and leaves the same in the arrays,
/// which begin as copies of vectors of the host. To the bit.
template <class B>
struct beside_reference {
    B on{};
    reference plain{};

    template <class Kernel, class... E>
    bool same(Kernel kernel, std::vector<E>... vectors) {
        auto arrays = std::make_tuple(there(on, vectors)...);
        auto const run = [&](auto& backend, auto&... a) {
            if constexpr (std::is_void_v<decltype(kernel(backend, a...))>)
                return kernel(backend, a...), true;
            else
                return kernel(backend, a...);
        };
        auto const found = std::apply([&](auto&... a) { return run(on, a...); }, arrays);
        return same_bits(found, run(plain, vectors...)) &&
               std::apply([&](auto&... a) { return (same_bits(here(on, a), vectors) && ...); }, arrays);
    }
};

enum class kind { noise, ties, zeros, few_among_zeros, subnormal, huge, ascending, last_kind_of_finite, odd };

/// d numbers. All but the odd ones are finite.
template <class T>
std::vector<T> numbers(kind of, std::size_t d) {
    using limits = std::numeric_limits<T>;
    key const from = key{static_cast<std::uint64_t>(of)}.child(d);
    auto const noise = [&](std::size_t i) { return static_cast<T>(std::tan(3 * (from.uniform(i) - 0.5))); };
    T const odd[] = {
        T(-0.0),          limits::denorm_min(), -3 * limits::denorm_min(), limits::min(),       limits::max(),
        limits::lowest(), limits::infinity(),   -limits::infinity(),       limits::quiet_NaN(), 1};
    std::vector<T> x(d);
    for (std::size_t i = 0; i < d; ++i) {
        auto const n = from.below(2 * i + 1, 60);
        switch (of) {
            case kind::noise:
                x[i] = noise(i);
                break;
            case kind::ties:
                x[i] = static_cast<T>(static_cast<int>(from.below(i, 7)) - 3);
                break;
            case kind::zeros:
                x[i] = i % 2 == 0 ? T(0) : T(-0.0);
                break;
            case kind::few_among_zeros:
                x[i] = i % 100 == 37 ? noise(i) : T(0);
                break;
            case kind::subnormal:
                x[i] = noise(i) * 4 * limits::denorm_min();
                break;
            case kind::huge:
                x[i] = noise(i) * (limits::max() / 4096);
                break;
            case kind::ascending:
                x[i] = static_cast<T>(i) - T(3);
                break;
            case kind::last_kind_of_finite:
                x[i] = static_cast<T>(std::ldexp(noise(i), static_cast<int>(from.below(i, 60)) - 30));
                break;
            case kind::odd:
                x[i] = n < std::size(odd) ? odd[n] : noise(i);
        }
    }
    return x;
}

inline constexpr std::size_t lengths[] = {0, 1, 2, 15, 16, 17, 33, 63, 64, 65, 130, 1000, 2047, 2048, 2049, 7001};

/// use(x) for vectors of every kind and of every length; of the long ones, those of noise and odd ones are of every
/// length, and of each other kind two, in turn.
template <class T, class Use>
void each_vector(kind last, Use use) {
    for (int of = 0; of <= static_cast<int>(last); ++of)
        for (std::size_t i = 0; i < std::size(lengths); ++i) {
            bool const other = of != static_cast<int>(kind::noise) && of != static_cast<int>(kind::odd);
            std::size_t const d = lengths[i];
            if (other && d >= 1000 && (i + static_cast<std::size_t>(of)) % 5 > 1) continue;
            CAPTURE(of);
            CAPTURE(d);
            use(numbers<T>(static_cast<kind>(of), d));
        }
}
template <class T, class Use>
void each_finite_vector(Use use) {
    each_vector<T>(kind::last_kind_of_finite, use);
}
template <class T, class Use>
void each_vector(Use use) {
    each_vector<T>(kind::odd, use);
}

}  // namespace both
