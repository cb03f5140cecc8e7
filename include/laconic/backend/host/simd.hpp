// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>

#if !defined(LACONIC_SCALAR)
#    include <xsimd/xsimd.hpp>
#    if defined(XSIMD_NO_SUPPORTED_ARCHITECTURE)
#        define LACONIC_SCALAR
#    endif
#endif

/// The few vector operations that the host kernels need, from xsimd 8.1 to 13, for the instruction set that the
/// compiler's flags allow; with LACONIC_SCALAR defined, or where xsimd knows no instruction set, vectors of one number.
namespace laconic::simd {

/// Keeps the compiler from fusing the product that v came from with a later sum, which would make the result depend on
/// the instruction set. (g++ does that even to intrinsics.) Costs nothing where v lives in a register.
template <class V>
void settle(V& v) {
#if defined(__x86_64__)
    asm("" : "+x"(v));
#elif defined(__aarch64__)
    asm("" : "+w"(v));
#else
    asm("" : "+m"(v));
#endif
}

#if defined(LACONIC_SCALAR)

struct scalar_only {};
using arch = scalar_only;

template <class T, class A>
struct pack {
    T value;
    static constexpr std::size_t width = 1;

    static pack load(T const* p) { return {*p}; }
    static pack all(T v) { return {v}; }
    void store(T* p) const { *p = value; }

    friend pack operator+(pack a, pack b) { return {a.value + b.value}; }
    friend pack operator-(pack a, pack b) { return {a.value - b.value}; }
    friend pack operator*(pack a, pack b) { return {a.value * b.value}; }
    friend pack operator/(pack a, pack b) { return {a.value / b.value}; }
    friend pack magnitude(pack a) { return {std::abs(a.value)}; }
    friend pack larger(pack a, pack b) { return {a.value < b.value ? b.value : a.value}; }
    friend bool all_at_most(pack a, pack b) { return a.value <= b.value; }
    friend bool any_above(pack a, pack b) { return a.value > b.value; }
    friend pack settled(pack a) {
        settle(a.value);
        return a;
    }
};

#else

using arch = xsimd::default_arch;

template <class T, class A>
struct pack {
    xsimd::batch<T, A> value;
    static constexpr std::size_t width = xsimd::batch<T, A>::size;

    static pack load(T const* p) { return {xsimd::batch<T, A>::load_unaligned(p)}; }
    static pack all(T v) { return {xsimd::batch<T, A>(v)}; }
    void store(T* p) const { value.store_unaligned(p); }

    friend pack operator+(pack a, pack b) { return {a.value + b.value}; }
    friend pack operator-(pack a, pack b) { return {a.value - b.value}; }
    friend pack operator*(pack a, pack b) { return {a.value * b.value}; }
    friend pack operator/(pack a, pack b) { return {a.value / b.value}; }
    friend pack magnitude(pack a) { return {xsimd::abs(a.value)}; }
    friend pack larger(pack a, pack b) { return {xsimd::max(a.value, b.value)}; }
    friend bool all_at_most(pack a, pack b) { return xsimd::all(a.value <= b.value); }
    friend bool any_above(pack a, pack b) { return xsimd::any(a.value > b.value); }

    /// The same number, rounded: keeps the compiler from fusing the product it came from with a later sum, which would
    /// make the result depend on the instruction set. (g++ does that even to intrinsics.)
    friend pack settled(pack a) {
        settle(a.value.data);
        return a;
    }
};

#endif

}  // namespace laconic::simd
