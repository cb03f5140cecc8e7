// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "laconic/backend/host/impl/instruction_set.hpp"

/// The few vector operations that the host kernels need, from xsimd 8.1 to 14, for the instruction set that the
/// compiler's flags allow; with LACONIC_SCALAR defined, or where xsimd knows no instruction set, vectors of one number.
/// pack<T, A> is such a vector, arch the instruction set as a type: see impl/xsimd_pack.hpp.
namespace laconic::simd {

template <class A>
struct half_pack;

/// What sums of floats are made with: doubles, as many at a time as is fastest. A Zen 4 widens floats to 512 bits at
/// half the pace of 256.
template <class A>
using widened_pack =
    std::conditional_t<instruction_set::is_zen4 && instruction_set::has_avx512f, half_pack<A>, pack<double, A>>;

}  // namespace laconic::simd
