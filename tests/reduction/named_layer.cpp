// SPDX-License-Identifier: Apache-2.0
// A layer is called by its name in errors, or is the vector where it has none.
#include "laconic/reduction/named_layer.hpp"

#include "support/test.hpp"

using laconic::detail::named_layer;

TEST_CASE("a layer is called by its name, and one without a name is the vector") {
    named_layer const w({"w", 3}), only({"", 4});
    CHECK(w.name() == "w");
    CHECK(w.size() == 3);
    CHECK(w.title() == "layer w");
    CHECK(w.was_not_started() == "layer w was not started");
    CHECK(w.with_title("too long") == "layer w: too long");
    CHECK(only.title() == "the vector");
    CHECK(only.was_not_started() == "the vector was not started");
    CHECK(only.with_title("too long") == "too long");
}
