// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/core/contract.hpp"

namespace laconic {

/// The version of the library: major, minor and patch. The build reads it from this line.
inline constexpr int version[] = {0, 1, 0};

}  // namespace laconic
