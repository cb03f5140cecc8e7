// SPDX-License-Identifier: Apache-2.0
// The list of collectives holds types that describe themselves, each once.
#include "laconic/collective/collectives.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "laconic/core/description.hpp"

using namespace laconic;

namespace {

template <class... X>
std::multiset<std::string> names_of_collectives(detail::type_list<X...>) {
    static_assert((Described<X> && ...));
    return {(listed<X>().name + listed<X>().parameters)...};
}

}  // namespace

TEST_CASE("each collective stands in the list once, with its parameters") {
    auto const names = names_of_collectives(library_collectives{});
    for (auto const& name : names) CHECK(names.count(name) == 1);
    CHECK(names.size() >= 15);
}
