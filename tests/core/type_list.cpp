// SPDX-License-Identifier: Apache-2.0
// A function can take the types of a list apart.
#include "laconic/core/type_list.hpp"

#include "support/everything.hpp"

using namespace laconic;

namespace {

template <class... V>
constexpr std::size_t sizes_of_listed(detail::type_list<V...>) {
    return (std::size_t{0} + ... + sizeof(V));
}

}  // namespace

TEST_CASE("a list of types is a value that a function takes apart") {
    CHECK(sizes_of_listed(detail::type_list<char, char[3]>{}) == 4);
    CHECK(sizes_of_listed(detail::type_list<>{}) == 0);
}
