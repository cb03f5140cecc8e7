// SPDX-License-Identifier: Apache-2.0
#include "named_methods.hpp"

namespace laconic::grammar {
template std::vector<entry<any_method<double>>> const& entries();
}  // namespace laconic::grammar
