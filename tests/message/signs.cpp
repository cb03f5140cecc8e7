// SPDX-License-Identifier: Apache-2.0
// Numbers are their bucket's scale, or 1, with the sign of their bit, also past the first word.
#include "laconic/message/signs.hpp"

#include "laconic/backend/host.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace laconic::messages;

static_assert(Message<signs<double, host>, double, host> && Message<signs<float, host>, float, host>);
static_assert(signs<float, host>::terms_type::in_order);

TEST_CASE("numbers are scales with signs, bucket by bucket") {
    signs<double, host> m;
    m.count = 5;
    m.bucket = 2;
    m.scales = {1, 0.5, 4};
    m.words = {0b01010};
    CHECK(m.dimension() == 5);
    host on;
    std::vector<double> out(5, 10);
    add_message(on, std::span<double>(out), 2.0, m);
    CHECK(out == std::vector<double>{12, 8, 11, 9, 18});
}

TEST_CASE("without scales every magnitude is 1") {
    signs<double, host> m;
    m.count = 66;
    m.bucket = 0;
    m.words = {0b10, 0b10};
    host on;
    std::vector<double> out(66, 1);
    add_message(on, std::span<double>(out), 0.5, m);
    std::vector<double> expected(66, 1.5);
    expected[1] = expected[65] = 0.5;
    CHECK(out == expected);
}

TEST_CASE("signs past the first word") {
    signs<float, host> m;
    m.count = m.bucket = 65;
    m.scales = {3};
    m.words = {0, 1};
    CHECK(m.terms()[63].value == 3);
    CHECK(m.terms()[64].value == -3);
    CHECK(m.terms()[64].at == 64);
}
