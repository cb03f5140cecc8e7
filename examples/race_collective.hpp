// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "laconic/any/collective.hpp"
#include "laconic/core/description.hpp"

namespace race {

/// Reads what --collective is. Throws laconic::parse_error, which names those that there are.
laconic::any_collective<double> collective_named(std::string const& text);
/// Each collective, in the same way.
std::vector<laconic::listed_value> list_of_collectives();

}  // namespace race
