// SPDX-License-Identifier: Apache-2.0
#include "race_exchange.hpp"

#include "laconic/any/parse_exchange.hpp"

// The one place of race that knows every exchange there is.
namespace race {

laconic::any_exchange<double> exchange_named(std::string const& text) { return laconic::parse_exchange<double>(text); }

std::string list_of_exchanges() {
    std::string text;
    for (auto const& x : laconic::describe_exchanges()) text += x.name + x.parameters + "\n    " + x.about + "\n";
    return text;
}

}  // namespace race
