// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/any/parse_collective.hpp"
#include "named.hpp"

namespace laconic::grammar {
extern template std::vector<entry<any_collective<float, host>>> const& entries();
extern template std::vector<entry<any_collective<double, host>>> const& entries();
}  // namespace laconic::grammar
