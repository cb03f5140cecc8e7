// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <xsimd/xsimd.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "laconic/backend/settle.hpp"

namespace laconic::simd {

using arch = xsimd::default_arch;

namespace detail {

// Truth values of a register as bits of a number, the first as the lowest; registers of x86 have theirs in x86/,
// beside what makes doubles of floats.
inline unsigned packed(std::unsigned_integral auto mask) { return mask; }  // AVX-512

template <class Batch>
Batch widened(float const* p) {
    if constexpr (requires(Batch b) { as_doubles(p, b.data); })
        return Batch(as_doubles(p, decltype(Batch::data){}));
    else {  // an instruction set for which there is no as_doubles
        typename Batch::value_type wide[Batch::size];
        for (std::size_t j = 0; j < Batch::size; ++j) wide[j] = p[j];
        return Batch::load_unaligned(wide);
    }
}

// The functions for a register, where there are such, or xsimd's.
template <class Batch>
Batch divided(Batch a, Batch b) {
    if constexpr (requires { quotient(a.data, b.data); })
        return Batch(quotient(a.data, b.data));
    else
        return a / b;
}
template <class Batch>
Batch root_of(Batch a) {
    if constexpr (requires { root(a.data); })
        return Batch(root(a.data));
    else
        return xsimd::sqrt(a);
}

template <class Bools>
std::uint64_t packed_bools(Bools const& b) {
    if constexpr (requires { b.mask(); })  // xsimd 8 has none
        return static_cast<std::uint64_t>(b.mask());
    else if constexpr (requires { packed(b.data); })
        return static_cast<std::uint64_t>(packed(b.data));
    else {
        bool each[Bools::size];
        b.store_unaligned(each);
        std::uint64_t bits = 0;
        for (std::size_t j = 0; j < Bools::size; ++j) bits |= std::uint64_t{each[j]} << j;
        return bits;
    }
}

}  // namespace detail

template <class T, class A>
struct pack {
    xsimd::batch<T, A> value;
    static constexpr std::size_t width = xsimd::batch<T, A>::size;

    static pack load(T const* p) { return {xsimd::batch<T, A>::load_unaligned(p)}; }
    static pack all(T v) { return {xsimd::batch<T, A>(v)}; }
    /// As many floats, each as a T.
    static pack widened(float const* p) { return {detail::widened<xsimd::batch<T, A>>(p)}; }
    void store(T* p) const { value.store_unaligned(p); }

    friend pack operator+(pack a, pack b) { return {a.value + b.value}; }
    friend pack operator-(pack a, pack b) { return {a.value - b.value}; }
    friend pack operator*(pack a, pack b) { return {a.value * b.value}; }
    friend pack operator/(pack a, pack b) { return {detail::divided(a.value, b.value)}; }
    pack& operator+=(pack b) { return *this = *this + b; }
    /// a b + c. It may be rounded once or twice: for products that are exact.
    friend pack multiply_add(pack a, pack b, pack c) { return {xsimd::fma(a.value, b.value, c.value)}; }
    friend pack root(pack a) { return {detail::root_of(a.value)}; }
    /// b where a < b, else a, also of NaN; and 1 or -1, or a zero or NaN itself.
    friend pack raised_to(pack a, pack b) { return {xsimd::select(a.value < b.value, b.value, a.value)}; }
    friend pack sign(pack a) {
        auto const zero = all(0).value;
        return {xsimd::select(a.value > zero, all(1).value, xsimd::select(a.value < zero, all(-1).value, a.value))};
    }
    friend pack magnitude(pack a) { return {xsimd::abs(a.value)}; }
    friend pack larger(pack a, pack b) { return {xsimd::max(a.value, b.value)}; }
    friend pack smaller(pack a, pack b) { return {xsimd::min(a.value, b.value)}; }
    /// The magnitudes of a with the signs of b.
    friend pack with_sign_of(pack a, pack b) { return {xsimd::copysign(a.value, b.value)}; }
    friend bool all_at_most(pack a, pack b) { return xsimd::all(a.value <= b.value); }
    /// Bit j tells whether a_j <= b_j; where one is NaN it is 0.
    friend std::uint64_t which_at_most(pack a, pack b) { return detail::packed_bools(a.value <= b.value); }
    /// Bit j tells whether a_j < b_j; where one is NaN it is 0.
    friend std::uint64_t which_below(pack a, pack b) { return detail::packed_bools(a.value < b.value); }

    /// The same number, rounded: keeps the compiler from fusing the product it came from with a later sum, which would
    /// make the result depend on the instruction set. (g++ does that even to intrinsics.)
    friend pack settled(pack a) {
        settle(a.value.data);
        return a;
    }
    friend pack rounded_product(pack a, pack b) { return settled(a * b); }
};

}  // namespace laconic::simd
