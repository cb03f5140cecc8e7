// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifndef LACONIC_BACKEND
#    define LACONIC_BACKEND host  // where methods compute
#endif
#include "laconic/parse_method.hpp"
#include "named.hpp"
#include "named_collectives.hpp"

namespace laconic::grammar {
extern template std::vector<entry<any_method<double>>> const& entries();
}  // namespace laconic::grammar
