// SPDX-License-Identifier: Apache-2.0
#include "named_collectives.hpp"

namespace laconic::detail {
template std::vector<named_collective<float, host>> const& named_collectives();
template std::vector<named_collective<double, host>> const& named_collectives();
}  // namespace laconic::detail
