// SPDX-License-Identifier: Apache-2.0
#include "laconic/any/parse_exchange.hpp"

// All exchanges that are read from text, compiled once for this program and beside exchanges.cpp.
template std::vector<laconic::detail::named_exchange<double, laconic::host>> const&
laconic::detail::named_exchanges<double, laconic::host>();
