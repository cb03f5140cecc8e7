// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/parse_method.hpp"
#include "named.hpp"
#include "named_collectives.hpp"

namespace laconic::grammar {
extern template std::vector<entry<any_method<double>>> const& entries();
}  // namespace laconic::grammar
