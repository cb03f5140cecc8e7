// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/any/parse_reduction.hpp"
#include "named.hpp"
#include "named_collectives.hpp"

namespace laconic::grammar {
extern template std::vector<entry<any_reduction<float, compiled::backend>>> const& entries();
extern template std::vector<entry<any_reduction<double, compiled::backend>>> const& entries();
}  // namespace laconic::grammar
