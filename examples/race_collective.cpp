// SPDX-License-Identifier: Apache-2.0
#include "race_collective.hpp"

#include "laconic/any/parse_collective.hpp"

// The one place of race that knows every collective there is.
namespace race {

laconic::any_collective<double> collective_named(std::string const& text) {
    return laconic::parse_collective<double>(text);
}

std::string list_of_collectives() {
    std::string text;
    for (auto const& x : laconic::list_collectives()) {
        text += x.name + x.parameters + "\n    " + x.about;
        text += (x.source.empty() ? "" : ": " + x.source) + "\n";
    }
    return text;
}

}  // namespace race
