// SPDX-License-Identifier: Apache-2.0
// Numbers of a bucket are one of its two means by their sign bit, also past the first word.
#include "laconic/message/means.hpp"

#include "laconic/backend/host.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace laconic::messages;

static_assert(Message<means<double, host>, double, host> && Message<means<float, host>, float, host>);
static_assert(means<float, host>::terms_type::in_order);

TEST_CASE("numbers are one of two, by sign, bucket by bucket") {
    means<double, host> const m{5, 2, {1, 0.5, 4}, {3, 2, 8}, {0b01010}};
    CHECK(m.dimension() == 5);
    host on;
    std::vector<double> out(5, 10);
    add_message(on, std::span<double>(out), 2.0, m);
    CHECK(out == std::vector<double>{16, 8, 14, 9, 26});
}

TEST_CASE("means past the first word of signs") {
    means<float, host> const m{65, 65, {3}, {5}, {0, 1}};
    CHECK(m.terms()[63].value == 5);
    CHECK(m.terms()[64].value == -3);
    CHECK(m.terms()[64].at == 64);
}
