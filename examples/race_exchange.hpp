// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "laconic/any/exchange.hpp"

namespace race {

/// Reads what --exchange is. Throws laconic::spelling_error, which names those that there are.
laconic::any_exchange<double> exchange_named(std::string const& text);
/// Each exchange with its parameters and what it does, as lines of text.
std::string list_of_exchanges();

}  // namespace race
