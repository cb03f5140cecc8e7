// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/any/parse_collective.hpp"

namespace laconic::detail {
extern template std::vector<named_collective<float, host>> const& named_collectives();
extern template std::vector<named_collective<double, host>> const& named_collectives();
}  // namespace laconic::detail
