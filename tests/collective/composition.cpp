// SPDX-License-Identifier: Apache-2.0
// `composition_of` lists every part and number of a recursion by name, parts without a text included.
#include "laconic/collective/composition.hpp"

#include "support/everything.hpp"

using namespace laconic;

namespace {

struct named {
    friend std::string to_string(named) { return "a name"; }
};
struct nameless {};
struct composed_of {
    named compressor, feedback, step, level;
    nameless estimator;
    named over;
    double scale = 0.5;
};

}  // namespace

TEST_CASE("every part and number by its name, and a part that has none") {
    CHECK(detail::composition_of(composed_of{}).lines() ==
          "the compressor: a name\nthe feedback: a name\nthe scale: 0.5\n"
          "the step: a name\nthe level: a name\nthe estimator: of the user's own making\n"
          "the transport: a name\n");
}
