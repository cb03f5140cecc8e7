// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/any/parse_reduction.hpp"
#include "named.hpp"
#include "named_collectives.hpp"

namespace laconic::detail {
extern template std::vector<named_reduction<float, host>> const& named_reductions();
}  // namespace laconic::detail
