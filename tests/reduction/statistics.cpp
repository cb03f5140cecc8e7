// SPDX-License-Identifier: Apache-2.0
// A timer adds the seconds of its life to a sum.
#include "laconic/reduction/statistics.hpp"

#include <chrono>
#include <thread>

#include "support/everything.hpp"

TEST_CASE("a timer adds the seconds of its life to a sum") {
    double seconds = 10;
    {
        laconic::detail::timed const time(seconds);
        CHECK(seconds == 10);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    CHECK(seconds >= 10.002);
    CHECK(laconic::reducer_statistics{}.last_probe.step == 0);
}
