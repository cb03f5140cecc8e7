// SPDX-License-Identifier: Apache-2.0
#include "named_collectives.hpp"

namespace laconic::grammar {
template std::vector<entry<any_collective<float, compiled::backend>>> const& entries();
template std::vector<entry<any_collective<double, compiled::backend>>> const& entries();
}  // namespace laconic::grammar
