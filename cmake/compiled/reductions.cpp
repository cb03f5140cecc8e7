// SPDX-License-Identifier: Apache-2.0
#include "laconic/compiled.hpp"

namespace laconic::detail {

template std::vector<named_reduction<float, host>> const& named_reductions();
template std::vector<named_reduction<double, host>> const& named_reductions();

}  // namespace laconic::detail
