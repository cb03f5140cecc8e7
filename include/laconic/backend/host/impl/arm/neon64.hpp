// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arm_neon.h>

#include "laconic/core/contract.hpp"

namespace laconic::simd::detail {

// Two floats as doubles; see impl/x86/sse2.hpp.
inline float64x2_t as_doubles(float const* p, float64x2_t) { return vcvt_f64_f32(vld1_f32(p)); }

// Rounded; xsimd's of floats are estimates. And of doubles, which clang++ would take for floats.
inline float32x4_t quotient(float32x4_t a, float32x4_t b) { return vdivq_f32(a, b); }
inline float64x2_t quotient(float64x2_t a, float64x2_t b) { return vdivq_f64(a, b); }
inline float32x4_t root(float32x4_t a) { return vsqrtq_f32(a); }
inline float64x2_t root(float64x2_t a) { return vsqrtq_f64(a); }

}  // namespace laconic::simd::detail
