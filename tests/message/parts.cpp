// SPDX-License-Identifier: Apache-2.0
// Each part is added at its own place, and no parts add nothing.
#include "laconic/message/parts.hpp"

#include "support/everything.hpp"

using namespace laconic;
using namespace laconic::messages;
using namespace laconic::wire;

static_assert(Message<parts_of<full_vector<double, host>>, double, host> &&
              !TermMessage<parts_of<full_vector<double, host>>>);

TEST_CASE("each part is added where it stands") {
    parts_of<factors<double, host>> const m{7,
                                            {{4, 2, 1, {1, 2}, {3, 4}}, {0, 1, 0, {}, {}}, {3, 1, 1, {2}, {5, 6, 7}}}};
    CHECK(m.dimension() == 7);
    host on;
    std::vector<double> out(7, 1);
    add_message(on, std::span<double>(out), -1.0, m);
    CHECK(out == std::vector<double>{-2, -3, -5, -7, -9, -11, -13});
    auto other = m;
    CHECK(other == m);
    other.each[2].right[1] = 0;
    CHECK(other != m);
}

TEST_CASE("no parts add nothing, whatever their length") {
    host on;
    for (std::size_t const d : {0u, 3u}) {
        parts_of<full_vector<float, host>> const m{d, {}};
        std::vector<float> out(d, 4);
        add_message(on, std::span<float>(out), 1.0f, m);
        CHECK(out == std::vector<float>(d, 4));
    }
}
