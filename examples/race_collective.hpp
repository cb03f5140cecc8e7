// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "laconic/any/collective.hpp"

namespace race {

/// Reads what --collective is. Throws laconic::parse_error, which names those that there are.
laconic::any_collective<double> collective_named(std::string const& text);
/// Each collective with its parameters and what it does, as lines of text.
std::string list_of_collectives();

}  // namespace race
