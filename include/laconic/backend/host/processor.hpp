// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/core/contract.hpp"

/// Which processor the compiler's flags name, as far as a kernel does there what loses elsewhere. Only processors that
/// were measured have a name here (docs/results.md); on all others kernels do what lost on none of those.
namespace laconic::detail {

/// Zen 4. g++ 12 and clang 14 call it znver3, as they do a Zen 3, which has no AVX-512, and a Zen 5, which has AVX-VNNI
/// too: what suits a Zen 4 was measured to lose on both. Not known of a build for any processor, nor of one that leaves
/// AVX-512 out.
#if defined(__AVX512F__) && !defined(__AVXVNNI__) && (defined(__znver3__) || defined(__znver4__))
inline constexpr bool is_zen4 = true;
#else
inline constexpr bool is_zen4 = false;
#endif

}  // namespace laconic::detail
