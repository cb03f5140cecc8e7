// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/core/contract.hpp"

namespace laconic::kernels {

/// How a matrix enters a product: as it stands, or with rows and columns exchanged.
enum class matrix_is { as_it_stands, transposed };

}  // namespace laconic::kernels
