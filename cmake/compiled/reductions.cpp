// SPDX-License-Identifier: Apache-2.0
#include "named_reductions.hpp"

namespace laconic::detail {
template std::vector<named_reduction<float, host>> const& named_reductions();
}  // namespace laconic::detail
