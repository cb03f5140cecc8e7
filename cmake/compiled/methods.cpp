// SPDX-License-Identifier: Apache-2.0
#include "named_methods.hpp"

namespace laconic::detail {
template std::vector<named_method<double>> const& named_methods();
}  // namespace laconic::detail
