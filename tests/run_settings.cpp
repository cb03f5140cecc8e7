// SPDX-License-Identifier: Apache-2.0
// Why a run ended has a name, and settings limit nothing but the rounds by themselves.
#include "laconic/run_settings.hpp"

#include "support/everything.hpp"

using namespace laconic;

TEST_CASE("every reason to stop has its name") {
    CHECK(to_string(stop_reason::rounds) == std::string("rounds"));
    CHECK(to_string(stop_reason::bits) == std::string("bits"));
    CHECK(to_string(stop_reason::target) == std::string("target"));
    CHECK(to_string(stop_reason::time) == std::string("time"));
    CHECK(to_string(stop_reason::watch) == std::string("watch"));
}

TEST_CASE("by default a run has 1000 rounds and no other limit") {
    run_settings const how;
    CHECK(how.rounds == 1000);
    CHECK(how.bits == std::numeric_limits<double>::infinity());
    CHECK(how.target == -std::numeric_limits<double>::infinity());
    CHECK(how.seconds == std::numeric_limits<double>::infinity());
    CHECK(how.trace == nullptr);
}
