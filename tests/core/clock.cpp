// SPDX-License-Identifier: Apache-2.0
#include "laconic/core/clock.hpp"

#include <doctest/doctest.h>

#include <thread>

using namespace laconic;

static_assert(Clock<monotonic_clock>);

TEST_CASE("in seconds, and never back") {
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

// What gives seconds without being asked for anything, and nothing else, is a clock.
static_assert(Clock<double()> && Clock<float (*)()>);
static_assert(!Clock<void()> && !Clock<double(int)> && !Clock<double> && !Clock<std::chrono::steady_clock>);
