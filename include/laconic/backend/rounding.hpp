// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace laconic {

/// Which of its two neighbours on a grid a value becomes.
enum class rounding { random, nearest };

}  // namespace laconic
