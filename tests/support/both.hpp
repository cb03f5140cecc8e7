// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/backend/device/memory.hpp"
#include "laconic/backend/reference.hpp"
#include "laconic/backend/reference/buckets.hpp"
#include "laconic/backend/reference/magnitudes.hpp"
#include "laconic/backend/reference/terms.hpp"
#include "laconic/core/key.hpp"
#include "support/test.hpp"

// The device beside the reference, and numbers of all kinds for both.
namespace both {

using laconic::coordinate;
using laconic::device;
using laconic::key;
using laconic::reference;
using coordinates = std::vector<coordinate>;

template <class T>
device::array<T> there(device& on, std::vector<T> const& x) {
    device::array<T> a(x.size());
    copy_from_host(on, std::span<T const>(x), std::span<T>(a));
    return a;
}
template <class T>
std::vector<T> here(device& on, device::array<T> const& a) {
    std::vector<T> x(a.size());
    copy_to_host(on, std::span<T const>(a), std::span<T>(x));
    return x;
}
template <class T>
std::span<T const> in(std::vector<T> const& x) {
    return x;
}
template <class T>
std::span<T const> in(device::array<T> const& x) {
    return {x.data(), x.size()};
}

/// Equal to the bit; all NaNs are alike.
template <class T>
bool same_bits(std::vector<T> const& a, std::vector<T> const& b) {
    using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (std::bit_cast<bits>(a[i]) != std::bit_cast<bits>(b[i]) && !(std::isnan(a[i]) && std::isnan(b[i])))
            return false;
    return true;
}
template <class T>
bool same_bits(T a, T b) {
    return same_bits(std::vector<T>{a}, std::vector<T>{b});
}

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

/// use(x) for vectors of every kind and of every length.
template <class T, class Use>
void each_vector(kind last, Use use) {
    for (int of = 0; of <= static_cast<int>(last); ++of)
        for (std::size_t const d : lengths) {
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
