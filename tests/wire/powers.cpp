// SPDX-License-Identifier: Apache-2.0
// A power of two costs nine or twelve bits.
#include "laconic/wire/powers.hpp"

#include "laconic/backend/host.hpp"
#include "laconic/wire/message.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace laconic::messages;
using namespace laconic::wire;

TEST_CASE("a power takes nine or twelve bits a number") {
    powers<float, host> m{{127, 128, 0}};
    CHECK(account(m).values() == 27);
    CHECK(account(m).header() == 5);  // the padding
    CHECK(bits(m) == 32);
    CHECK(bits_as_paper(m) == 27);
    CHECK(account(powers<double, host>{{1023}}).values() == 12);
}
