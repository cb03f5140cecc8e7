// SPDX-License-Identifier: Apache-2.0
#include "race_collective.hpp"

#include "laconic/any/parse_collective.hpp"

// The one place of race that knows every collective there is.
namespace race {

laconic::any_collective<double> collective_named(std::string const& text) {
    return laconic::parse_collective<double>(text);
}

std::vector<laconic::listed_value> list_of_collectives() { return laconic::list_collectives(); }

}  // namespace race
