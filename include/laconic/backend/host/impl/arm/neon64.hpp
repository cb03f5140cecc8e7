// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arm_neon.h>

#include "laconic/core/contract.hpp"

namespace laconic::simd::detail {

// Two floats as doubles; see impl/x86/sse2.hpp.
inline float64x2_t as_doubles(float const* p, float64x2_t) { return vcvt_f64_f32(vld1_f32(p)); }

}  // namespace laconic::simd::detail
