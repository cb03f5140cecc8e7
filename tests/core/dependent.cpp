// SPDX-License-Identifier: Apache-2.0
// The type is the one that is named, whatever it is made to depend on.
#include "laconic/core/dependent.hpp"

#include "support/everything.hpp"

using namespace laconic;

namespace {

struct incomplete;

// Where nobody calls it, an incomplete type inside is no error.
template <class T>
int size_of_incomplete() {
    return static_cast<int>(sizeof(dependent<incomplete, T>));
}

}  // namespace

TEST_CASE("a dependent type is the type itself") {
    CHECK(std::same_as<dependent<int, double>, int>);
    CHECK(std::same_as<dependent<int const&, void>, int const&>);
}
