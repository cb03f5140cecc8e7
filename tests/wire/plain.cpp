// SPDX-License-Identifier: Apache-2.0
// A full vector costs its numbers and nothing else.
#include "laconic/wire/plain.hpp"

#include "laconic/backend/host.hpp"
#include "laconic/wire/message.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace laconic::messages;
using namespace laconic::wire;

TEST_CASE("numbers in full are counted as values and nothing else") {
    full_vector<float, host> m{{1, -2, 3}};
    CHECK(account(m).values() == 96);
    CHECK(bits(m) == 96);
    CHECK(bits_as_paper(m) == 96);
    CHECK(bits_as_paper(full_vector<double, host>{{1, 2}}) == 128);
}
