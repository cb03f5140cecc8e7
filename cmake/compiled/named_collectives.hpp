// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend.hpp"
#include "laconic/any/parse_collective.hpp"
#include "named.hpp"

namespace laconic::grammar {
extern template std::vector<entry<any_collective<float, compiled::backend>>> const& entries();
extern template std::vector<entry<any_collective<double, compiled::backend>>> const& entries();
}  // namespace laconic::grammar
