// SPDX-License-Identifier: Apache-2.0
// One include has the machines of both packet protocols.
#include "laconic/packet.hpp"

#include "support/everything.hpp"

TEST_CASE("settings of both protocols are checked") {
    CHECK_NOTHROW(switch_layout{.d = 5, .workers = 2}.check());
    CHECK_THROWS_AS((switch_layout{.d = 5, .workers = 0}.check()), argument_error);
    CHECK_NOTHROW((detail::omni_blocks{.d = 5, .block = 2}.check()));
    CHECK_THROWS_AS((detail::omni_blocks{.d = 5, .block = 0}.check()), argument_error);
}
