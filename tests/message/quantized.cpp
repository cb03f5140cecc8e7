// SPDX-License-Identifier: Apache-2.0
// A number is its code times its bucket's step, with wide codes where there are more levels than a byte has.
#include "laconic/message/quantized.hpp"

#include "support/everything.hpp"

using namespace laconic;
using namespace laconic::messages;
using namespace laconic::wire;

using message = quantized<float, host>;

static_assert(Message<message, float, host> && Message<message, double, host> && TermMessage<message>);

// Two buckets of two and one of one: steps 0.5, 10 and 0.
TEST_CASE("a number is its code times its bucket's step") {
    message const m{4, 2, {0.5f, 10, 0}, {-3, 4, 1, 0, 2}};
    CHECK(m.dimension() == 5);
    float const expected[] = {-1.5f, 2, 10, 0, 0};
    auto const t = m.terms();
    REQUIRE(t.size() == 5);
    for (std::size_t j = 0; j < 5; ++j) CHECK((t[j].at == j && t[j].value == expected[j]));

    host on;
    std::vector<double> out(5, 1.0);
    add_message(on, std::span<double>(out), -2.0, m);
    CHECK(out == std::vector<double>{4, -3, -19, 1, 1});

    message other = m;
    CHECK(other == m);
    other.codes[4] = 1;
    CHECK(other != m);  // sent differently, though it means the same
}

TEST_CASE("with more levels than a byte holds its codes are wide") {
    message m{127, 2, {0.5f, 10}, {}};
    m.resize(3);
    CHECK((m.codes.size() == 3 && m.wide_codes.empty()));
    m.levels = 128;
    m.resize(3);
    CHECK((m.codes.empty() && m.wide_codes.size() == 3));
    CHECK(m.dimension() == 3);
    m.wide_codes = {128, -127, 1};
    for (std::size_t j = 0; j < 3; ++j) CHECK(m.terms()[j].value == std::vector<float>{64, -63.5f, 10}[j]);
    host on;
    std::vector<double> out(3);
    add_message(on, std::span<double>(out), 2.0, m);
    CHECK(out == std::vector<double>{128, -127, 20});
}
