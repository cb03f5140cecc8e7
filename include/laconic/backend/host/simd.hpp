// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "laconic/backend/host/processor.hpp"
#include "laconic/backend/settle.hpp"

#if !defined(LACONIC_SCALAR)
#    include <xsimd/xsimd.hpp>
#    if defined(XSIMD_NO_SUPPORTED_ARCHITECTURE)
#        define LACONIC_SCALAR
#    endif
#endif

/// The few vector operations that the host kernels need, from xsimd 8.1 to 14, for the instruction set that the
/// compiler's flags allow; with LACONIC_SCALAR defined, or where xsimd knows no instruction set, vectors of one number.
namespace laconic::simd {

#if defined(LACONIC_SCALAR)

struct scalar_only {};
using arch = scalar_only;

template <class T, class A>
struct pack {
    T value;
    static constexpr std::size_t width = 1;

    static pack load(T const* p) { return {*p}; }
    static pack all(T v) { return {v}; }
    static pack widened(float const* p) { return {*p}; }
    void store(T* p) const { *p = value; }

    friend pack operator+(pack a, pack b) { return {a.value + b.value}; }
    friend pack operator-(pack a, pack b) { return {a.value - b.value}; }
    friend pack operator*(pack a, pack b) { return {a.value * b.value}; }
    friend pack operator/(pack a, pack b) { return {a.value / b.value}; }
    pack& operator+=(pack b) { return *this = *this + b; }
    friend pack multiply_add(pack a, pack b, pack c) { return {a.value * b.value + c.value}; }
    friend pack magnitude(pack a) { return {std::abs(a.value)}; }
    friend pack larger(pack a, pack b) { return {a.value < b.value ? b.value : a.value}; }
    friend pack smaller(pack a, pack b) { return {b.value < a.value ? b.value : a.value}; }
    friend pack with_sign_of(pack a, pack b) { return {std::copysign(a.value, b.value)}; }
    friend bool all_at_most(pack a, pack b) { return a.value <= b.value; }
    friend bool any_above(pack a, pack b) { return a.value > b.value; }
    friend std::uint64_t which_at_most(pack a, pack b) { return a.value <= b.value; }
    friend std::uint64_t which_below(pack a, pack b) { return a.value < b.value; }
    friend pack settled(pack a) {
        settle(a.value);
        return a;
    }
};

#else

using arch = xsimd::default_arch;

namespace detail {

// Truth values of a register as bits of a number, the first as the lowest.
inline unsigned packed(std::unsigned_integral auto mask) { return mask; }  // AVX-512
#    if defined(__SSE2__)
inline int packed(__m128 v) { return _mm_movemask_ps(v); }
inline int packed(__m128d v) { return _mm_movemask_pd(v); }
#    endif
#    if defined(__AVX__)
inline int packed(__m256 v) { return _mm256_movemask_ps(v); }
inline int packed(__m256d v) { return _mm256_movemask_pd(v); }
#    endif

// As many floats as a register, of the kind of the second argument, has doubles: as doubles.
#    if defined(__SSE2__)
inline __m128d as_doubles(float const* p, __m128d) {
    return _mm_cvtps_pd(_mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<__m128i const*>(p))));
}
#    endif
#    if defined(__AVX__)
inline __m256d as_doubles(float const* p, __m256d) { return _mm256_cvtps_pd(_mm_loadu_ps(p)); }
#    endif
#    if defined(__aarch64__)
inline float64x2_t as_doubles(float const* p, float64x2_t) { return vcvt_f64_f32(vld1_f32(p)); }
#    endif

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
    friend pack operator/(pack a, pack b) { return {a.value / b.value}; }
    pack& operator+=(pack b) { return *this = *this + b; }
    /// a b + c. It may be rounded once or twice: for products that are exact.
    friend pack multiply_add(pack a, pack b, pack c) { return {xsimd::fma(a.value, b.value, c.value)}; }
    friend pack magnitude(pack a) { return {xsimd::abs(a.value)}; }
    friend pack larger(pack a, pack b) { return {xsimd::max(a.value, b.value)}; }
    friend pack smaller(pack a, pack b) { return {xsimd::min(a.value, b.value)}; }
    /// The magnitudes of a with the signs of b.
    friend pack with_sign_of(pack a, pack b) { return {xsimd::copysign(a.value, b.value)}; }
    friend bool all_at_most(pack a, pack b) { return xsimd::all(a.value <= b.value); }
    friend bool any_above(pack a, pack b) { return xsimd::any(a.value > b.value); }
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
};

#endif

#if !defined(LACONIC_SCALAR) && defined(__AVX512F__)
/// Doubles, half as many as a register has room for.
template <class A>
struct half_pack {
    __m256d value;
    static constexpr std::size_t width = 4;

    static half_pack load(double const* p) { return {_mm256_loadu_pd(p)}; }
    static half_pack all(double v) { return {_mm256_set1_pd(v)}; }
    static half_pack widened(float const* p) { return {_mm256_cvtps_pd(_mm_loadu_ps(p))}; }
    void store(double* p) const { _mm256_storeu_pd(p, value); }

    friend half_pack operator+(half_pack a, half_pack b) { return {a.value + b.value}; }
    friend half_pack operator-(half_pack a, half_pack b) { return {a.value - b.value}; }
    friend half_pack operator*(half_pack a, half_pack b) { return {a.value * b.value}; }
    friend half_pack operator/(half_pack a, half_pack b) { return {a.value / b.value}; }
    half_pack& operator+=(half_pack b) { return *this = *this + b; }
    friend half_pack multiply_add(half_pack a, half_pack b, half_pack c) {
        return {_mm256_fmadd_pd(a.value, b.value, c.value)};
    }
    friend half_pack magnitude(half_pack a) { return {_mm256_andnot_pd(_mm256_set1_pd(-0.0), a.value)}; }
    friend half_pack larger(half_pack a, half_pack b) { return {_mm256_max_pd(a.value, b.value)}; }
    friend half_pack settled(half_pack a) {
        settle(a.value);
        return a;
    }
};

/// What sums of floats are made with: doubles, as many at a time as is fastest. A Zen 4 widens floats to 512 bits at
/// half the pace of 256.
template <class A>
using widened_pack = std::conditional_t<laconic::detail::is_zen4, half_pack<A>, pack<double, A>>;
#else
template <class A>
using widened_pack = pack<double, A>;
#endif

}  // namespace laconic::simd
