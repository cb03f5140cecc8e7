// SPDX-License-Identifier: Apache-2.0
// A scaled message adds each number times its factor.
#include "laconic/message/scaled.hpp"

#include "laconic/backend/host.hpp"
#include "laconic/message/full_vector.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace laconic::messages;
using namespace laconic::wire;

static_assert(Message<scaled<full_vector<float, host>, float>, float, host>);

TEST_CASE("each number is multiplied by the factor") {
    scaled<full_vector<double, host>, double> const m{0.5, {{2, -4}}};
    host on;
    std::vector<double> out{1, 1};
    add_message(on, std::span<double>(out), 3.0, m);
    CHECK(out == std::vector<double>{4, -5});
    CHECK(m.dimension() == 2);
    CHECK(m != scaled<full_vector<double, host>, double>{0.25, {{2, -4}}});
}
