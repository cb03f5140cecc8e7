// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "laconic/core/contract.hpp"

namespace laconic::detail {

/// How far a sum of two lists has come: i terms of the one and j of the other make its n first.
struct merge_place {
    std::size_t i, j, n;
};

}  // namespace laconic::detail
