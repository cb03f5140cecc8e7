// SPDX-License-Identifier: Apache-2.0
#include "named_collectives.hpp"

namespace laconic::grammar {
template std::vector<entry<any_collective<float, host>>> const& entries();
template std::vector<entry<any_collective<double, host>>> const& entries();
}  // namespace laconic::grammar
