// SPDX-License-Identifier: Apache-2.0
// The list of methods holds types that compose a recursion and describe themselves, each once.
#include "laconic/method/methods.hpp"

#include "laconic/compress/identity.hpp"
#include "support/test.hpp"

using namespace laconic;

namespace {

template <class... M>
std::multiset<std::string> names_of_methods(type_list<M...>) {
    static_assert((Described<M> && ...));
    static_assert((Method<M> && ...));
    return {listed<M>().name...};
}

}  // namespace

TEST_CASE("each method stands in the list once") {
    auto const names = names_of_methods(library_methods<identity, gd>{});
    for (auto const& name : names) CHECK(names.count(name) == 1);
    CHECK(names.size() >= 33);
}
