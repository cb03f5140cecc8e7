// SPDX-License-Identifier: Apache-2.0
// Quantized messages cost their steps as scalars and their codes as values.
#include "laconic/wire/quantized.hpp"

#include "laconic/backend/host.hpp"
#include "laconic/wire/message.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace laconic::messages;
using namespace laconic::wire;

TEST_CASE("steps are scalars, codes are values") {
    quantized<float, host> m{3, 2, {0.5f, 1}, {3, -3, 0}};
    CHECK(account(m).scalars() == 64);
    CHECK(account(m).values() == 9);
    CHECK(account(m).positions() == 0);
    CHECK(bits(m) == 80);
    CHECK(bits_as_paper(m) == doctest::Approx(64 + 3 * std::log2(7.0)));
}
