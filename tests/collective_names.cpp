// SPDX-License-Identifier: Apache-2.0
// No test: the collectives that are read from text, compiled once.
#include "laconic/any/parse_collective.hpp"

// All collectives that are read from text, compiled once for this program and beside collectives.cpp.
template std::vector<laconic::detail::named_collective<double, laconic::host>> const&
laconic::detail::named_collectives<double, laconic::host>();
