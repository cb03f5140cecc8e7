// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/core/contract.hpp"

namespace laconic::simd {

/// Keeps the compiler from fusing the product that v came from with a later sum, which would make the result depend on
/// the instruction set. (g++ does that even to intrinsics.) Costs nothing where v lives in a register.
template <class V>
[[gnu::always_inline]] inline void settle(V& v) {
#if defined(__x86_64__)
    asm("" : "+x"(v));
#elif defined(__aarch64__)
    asm("" : "+w"(v));
#else
    asm("" : "+m"(v));
#endif
}

/// a b, rounded before anything is added to it, in a kernel of a device, too. Inline, as is what calls it: files that
/// are compiled for different processors share no such function.
template <class T>
[[gnu::always_inline]] constexpr T rounded_product(T a, T b) {
#if defined(__CUDA_ARCH__)
    if constexpr (sizeof(T) == 4)
        return __fmul_rn(a, b);
    else
        return __dmul_rn(a, b);
#else
    T v = a * b;
    settle(v);
    return v;
#endif
}

}  // namespace laconic::simd
