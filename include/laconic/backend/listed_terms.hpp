// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "laconic/core/term.hpp"
#include "laconic/core/view.hpp"

namespace laconic::kernels {

/// A sparse vector in a backend's memory, for kernels to read: ascending coordinates, none twice, and as many values.
template <Scalar T>
struct listed_terms {
    std::span<coordinate const> at{};
    std::span<T const> values{};
};

}  // namespace laconic::kernels
