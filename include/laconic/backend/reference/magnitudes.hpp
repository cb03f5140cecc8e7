// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <span>

#include "laconic/backend/reference/memory.hpp"
#include "laconic/core/view.hpp"

namespace laconic::kernels {

template <Scalar T>
void soft_threshold(reference&, T by, std::span<T> x) {
    for (T& v : x) v = std::abs(v) > by ? std::copysign(std::abs(v) - by, v) : T(0);
}
template <Scalar T>
void clip_magnitudes(reference&, T most, std::span<T> x) {
    for (T& v : x)
        if (std::abs(v) > most) v = std::copysign(most, v);
}

}  // namespace laconic::kernels
