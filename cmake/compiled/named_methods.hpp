// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/parse_method.hpp"
#include "named.hpp"
#include "named_collectives.hpp"

namespace laconic::detail {
extern template std::vector<named_method<double>> const& named_methods();
}  // namespace laconic::detail
