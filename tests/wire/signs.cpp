// SPDX-License-Identifier: Apache-2.0
// Signs cost a bit each and their scales a scalar each.
#include "laconic/wire/signs.hpp"

#include "laconic/backend/host.hpp"
#include "laconic/wire/message.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace laconic::messages;
using namespace laconic::wire;

TEST_CASE("scales are scalars, signs are values") {
    signs<float, host> m;
    m.count = 70;
    m.bucket = 40;
    m.scales = {1, 2};
    m.words = {~std::uint64_t{0}, 63};
    CHECK(account(m).scalars() == 64);
    CHECK(account(m).values() == 70);
    CHECK(bits(m) == 136);
    CHECK(bits_as_paper(m) == 134);

    m.bucket = 0;
    m.scales.clear();
    CHECK(account(m).scalars() == 0);
    CHECK(bits(m) == 72);
    CHECK(bits_as_paper(m) == 70);
}
