// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "laconic/backend/settle.hpp"

namespace laconic::simd {

/// What a pack is to a vector, to one number: kernels are written once for both. See xsimd_pack.hpp. What is constexpr
/// runs on devices, too.
template <class T, class A = void>
struct single {
    T value;
    static constexpr std::size_t width = 1;

    static constexpr single load(T const* p) { return {*p}; }
    static constexpr single all(T v) { return {v}; }
    static constexpr single widened(float const* p) { return {*p}; }
    constexpr void store(T* p) const { *p = value; }

    friend constexpr single operator+(single a, single b) { return {a.value + b.value}; }
    friend constexpr single operator-(single a, single b) { return {a.value - b.value}; }
    friend constexpr single operator*(single a, single b) { return {a.value * b.value}; }
    friend constexpr single operator/(single a, single b) { return {a.value / b.value}; }
    single& operator+=(single b) { return *this = *this + b; }
    friend single multiply_add(single a, single b, single c) { return {a.value * b.value + c.value}; }
    friend constexpr single root(single a) { return {std::sqrt(a.value)}; }
    friend constexpr single sign(single a) { return {a.value > 0 ? T(1) : a.value < 0 ? T(-1) : a.value}; }
    friend constexpr single magnitude(single a) { return {std::abs(a.value)}; }
    friend constexpr single raised_to(single a, single b) { return {a.value < b.value ? b.value : a.value}; }
    friend constexpr single larger(single a, single b) { return {a.value < b.value ? b.value : a.value}; }
    friend constexpr single smaller(single a, single b) { return {b.value < a.value ? b.value : a.value}; }
    friend single with_sign_of(single a, single b) { return {std::copysign(a.value, b.value)}; }
    friend bool all_at_most(single a, single b) { return a.value <= b.value; }
    friend std::uint64_t which_at_most(single a, single b) { return a.value <= b.value; }
    friend std::uint64_t which_below(single a, single b) { return a.value < b.value; }
    friend single settled(single a) {
        settle(a.value);
        return a;
    }
    friend constexpr single rounded_product(single a, single b) { return {simd::rounded_product(a.value, b.value)}; }
};

}  // namespace laconic::simd
