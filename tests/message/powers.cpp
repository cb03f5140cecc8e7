// SPDX-License-Identifier: Apache-2.0
// A code is a sign and an exponent field, and every code up to the largest exponent is a finite power of two.
#include "laconic/message/powers.hpp"

#include "support/everything.hpp"

using namespace laconic;
using namespace laconic::messages;
using namespace laconic::wire;

static_assert(Message<powers<float, host>, float, host> && TermMessage<powers<double, host>>);
static_assert(powers<float, host>::code_width == 9 && powers<double, host>::code_width == 12);

TEST_CASE("a code is the exponent field with the sign above it") {
    powers<float, host> const m{{127, 256 + 127, 128, 0, 256, 1, 254}};
    auto const t = m.terms();
    float const expected[] = {1, -1, 2, 0, 0, 0x1p-126f, 0x1p127f};
    REQUIRE(t.size() == 7);
    for (std::size_t j = 0; j < 7; ++j) {
        CHECK(t[j].value == expected[j]);
        CHECK(t[j].at == j);
    }
    CHECK(std::signbit(t[4].value));
    powers<double, host> const wide{{1023, 2048 + 1024, 2046, 1}};
    CHECK(wide.terms()[0].value == 1);
    CHECK(wide.terms()[1].value == -2);
    CHECK(wide.terms()[2].value == 0x1p1023);
    CHECK(wide.terms()[3].value == std::numeric_limits<double>::min());
}

TEST_CASE_TEMPLATE("every code up to the largest exponent is a finite power of two, the next is not", T, float,
                   double) {
    using these = powers<T, host>;
    these m;
    for (unsigned sign = 0; sign < 2; ++sign)
        for (unsigned e = 0; e <= these::largest_exponent; ++e)
            m.codes.push_back(static_cast<std::uint16_t>(sign << these::exponent_width | e));
    auto const t = m.terms();
    for (std::size_t j = 0; j < t.size(); ++j) {
        int e = 0;
        T const v = t[j].value;
        REQUIRE(std::isfinite(v));
        REQUIRE((v == 0 || std::abs(std::frexp(v, &e)) == T(0.5)));
    }
    m.codes = {static_cast<std::uint16_t>(these::largest_exponent + 1)};
    CHECK_FALSE(std::isfinite(m.terms()[0].value));
}
