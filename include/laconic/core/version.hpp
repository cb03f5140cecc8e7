// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/core/contract.hpp"

/// The version of the library; the build reads it from these three lines.
namespace laconic {

inline constexpr int version_major = 0;
inline constexpr int version_minor = 1;
inline constexpr int version_patch = 0;

}  // namespace laconic
