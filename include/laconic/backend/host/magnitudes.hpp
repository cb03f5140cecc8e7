// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "laconic/backend/host/memory.hpp"
#include "laconic/core/view.hpp"

/// What is done to the magnitudes of a vector, in place; the signs stay. Each is one pass.
namespace laconic::kernels {

/// |x_i| <- |x_i| - by, or 0 where that is not above 0; NaN becomes 0. by >= 0.
template <class A, Scalar T>
void soft_threshold(basic_host<A>&, T by, std::span<T> x) {
    for (T& v : x) v = v > by ? v - by : v < -by ? v + by : T(0);
}

/// |x_i| <- min(|x_i|, most); NaN stays. most >= 0.
template <class A, Scalar T>
void clip_magnitudes(basic_host<A>&, T most, std::span<T> x) {
    for (T& v : x) v = v > most ? most : v < -most ? -most : v;
}

}  // namespace laconic::kernels
