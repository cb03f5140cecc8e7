// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/core/contract.hpp"

/// The instruction sets that host kernels have forms for. A form takes one of these types, and overload resolution
/// finds the form for the largest set that instruction_set.hpp has chosen.
namespace laconic::instruction_set {

struct generic {};  ///< What every processor has: plain loops, and vectors as far as xsimd knows them.
struct sse2 : generic {};
struct avx : sse2 {};
struct avx2 : avx {};
struct avx512f : avx2 {};
struct avx512 : avx512f {};  ///< F, BW and VL, as in x86-64-v4.
struct avx512_vbmi : avx512 {};

}  // namespace laconic::instruction_set
