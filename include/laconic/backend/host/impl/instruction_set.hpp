// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <type_traits>

#include "laconic/backend/host/impl/instruction_sets.hpp"
#include "laconic/backend/host/impl/single.hpp"

/// The place that chooses, by the compiler's flags: which instruction set kernels are compiled for, and what a vector
/// is. No other header of the host has an `#if`, and none but this one includes impl/x86/ and impl/arm/. With
/// LACONIC_SCALAR defined, or where xsimd knows no instruction set, vectors have one number.
#if !defined(LACONIC_SCALAR)
#    include <xsimd/xsimd.hpp>
#endif
#if defined(LACONIC_SCALAR) || defined(XSIMD_NO_SUPPORTED_ARCHITECTURE)
namespace laconic::instruction_set {
using chosen = generic;
}
namespace laconic::simd {
struct scalar_only {};
using arch = scalar_only;
template <class T, class A>
using pack = single<T, A>;
}  // namespace laconic::simd
#else
#    if defined(__AVX512BW__) && defined(__AVX512VL__)
#        if defined(__AVX512VBMI__)
#            include "laconic/backend/host/impl/x86/avx512_vbmi.hpp"
#            define LACONIC_CHOSEN avx512_vbmi
#        else
#            include "laconic/backend/host/impl/x86/avx512.hpp"
#            define LACONIC_CHOSEN avx512
#        endif
#    elif defined(__AVX512F__)
#        include "laconic/backend/host/impl/x86/avx512f.hpp"
#        define LACONIC_CHOSEN avx512f
#    elif defined(__AVX2__)
#        include "laconic/backend/host/impl/x86/avx2.hpp"
#        define LACONIC_CHOSEN avx2
#    elif defined(__AVX__)
#        include "laconic/backend/host/impl/x86/avx.hpp"
#        define LACONIC_CHOSEN avx
#    elif defined(__SSE2__)
#        include "laconic/backend/host/impl/x86/sse2.hpp"
#        define LACONIC_CHOSEN sse2
#    elif defined(__aarch64__)
#        include "laconic/backend/host/impl/arm/neon64.hpp"
#        define LACONIC_CHOSEN generic
#    else
#        define LACONIC_CHOSEN generic
#    endif
namespace laconic::instruction_set {
using chosen = LACONIC_CHOSEN;
}
#    undef LACONIC_CHOSEN
#    include "laconic/backend/host/impl/xsimd_pack.hpp"  // last: it calls functions of the headers above
#endif

namespace laconic::instruction_set {

inline constexpr bool has_sse2 = std::derived_from<chosen, sse2>;
inline constexpr bool has_avx2 = std::derived_from<chosen, avx2>;
#ifdef __F16C__
inline constexpr bool has_f16c = has_avx2;
#else
inline constexpr bool has_f16c = false;
#endif
inline constexpr bool has_avx512f = std::derived_from<chosen, avx512f>;
inline constexpr bool has_avx512 = std::derived_from<chosen, avx512>;

/// Whether the flags name a Zen 4, for kernels that do there what loses elsewhere. Only processors that were measured
/// have a name here (docs/results/kernels.md); on all others kernels do what lost on none of those. g++ 12 and clang 14
/// call it znver3, as they do a Zen 3, which has no AVX-512, and a Zen 5, which has AVX-VNNI too: what suits a Zen 4
/// was measured to lose on both. Not known of a build for any processor, nor of one that leaves AVX-512 out.
#if defined(__AVX512F__) && !defined(__AVXVNNI__) && (defined(__znver3__) || defined(__znver4__))
inline constexpr bool is_zen4 = true;
#else
inline constexpr bool is_zen4 = false;
#endif

}  // namespace laconic::instruction_set

namespace laconic::simd {

template <class A>
struct half_pack;

/// What sums of floats are made with: doubles, as many at a time as is fastest. A Zen 4 widens floats to 512 bits at
/// half the pace of 256.
template <class A>
using widened_pack =
    std::conditional_t<instruction_set::is_zen4 && instruction_set::has_avx512f, half_pack<A>, pack<double, A>>;

}  // namespace laconic::simd
