// SPDX-License-Identifier: Apache-2.0
#include "named_reductions.hpp"

namespace laconic::grammar {
template std::vector<entry<any_reduction<float, compiled::backend>>> const& entries();
template std::vector<entry<any_reduction<double, compiled::backend>>> const& entries();
}  // namespace laconic::grammar
