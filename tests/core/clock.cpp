// SPDX-License-Identifier: Apache-2.0
// The monotonic clock counts seconds and never goes back, and Clock takes any function that returns seconds.
#include "laconic/core/clock.hpp"

#include <thread>

#include "support/everything.hpp"

static_assert(Clock<monotonic_clock>);

TEST_CASE("a clock counts in seconds and never goes back") {
    using namespace std::chrono_literals;
    monotonic_clock clock;
    double const start = clock();
    double last = start;
    for (int i = 0; i < 1000; ++i) {
        double const now = clock();
        REQUIRE(now >= last);
        last = now;
    }
    std::this_thread::sleep_for(2ms);
    CHECK(clock() >= last + 0.0019);  // it may be any later
}

// What returns seconds and takes no argument is a clock, and nothing else is.
static_assert(Clock<double()> && Clock<float (*)()>);
static_assert(!Clock<void()> && !Clock<double(int)> && !Clock<double> && !Clock<std::chrono::steady_clock>);
