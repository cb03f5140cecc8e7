// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/core/contract.hpp"

namespace laconic {

/// A list of types, such as all methods of the library; what reads or tests all of them takes them from there.
template <class... V>
struct type_list {};

}  // namespace laconic
