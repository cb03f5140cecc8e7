// SPDX-License-Identifier: Apache-2.0
// either is the message that it states, which alone is added and compared.
#include "laconic/message/either.hpp"

#include "support/everything.hpp"

using namespace laconic;
using namespace laconic::messages;
using namespace laconic::wire;

using numbers = full_vector<double, host>;
using choice = either<numbers, scaled<numbers, double>>;
static_assert(Message<choice, double, host>);

TEST_CASE("it is the one that is_first states, and the other does not count") {
    choice m{true, {{1, 2, 3}}, {.5, {{4, -8}}}};
    host on;
    std::vector<double> out(3);
    CHECK(m.dimension() == 3);
    add_message(on, std::span<double>(out), 2.0, m);
    CHECK(out == std::vector<double>{2, 4, 6});

    auto other = m;
    other.second.factor = 1;
    CHECK(m == other);
    m.is_first = false;
    CHECK(m != other);
    other.is_first = false;
    CHECK(m != other);
    CHECK(m.dimension() == 2);
    out = {0, 0};
    add_message(on, std::span<double>(out), 1.0, m);
    CHECK(out == std::vector<double>{2, -4});
}
