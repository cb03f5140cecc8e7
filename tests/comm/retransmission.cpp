// SPDX-License-Identifier: Apache-2.0
// Waits before a packet is sent again follow the mean and deviation of round trips, doubled each time.
#include "laconic/comm/retransmission.hpp"

#include "support/everything.hpp"

using namespace laconic;

TEST_CASE("the wait is the mean and four deviations of the round trips, doubled each time") {
    detail::round_trip timer({0.5, 0.125, 16, 1});
    CHECK(timer.wait(0) == 0.5);
    CHECK(timer.wait(2) == 2);
    CHECK(timer.wait(10) == 16);
    CHECK(timer.wait(100000) == 16);
    timer.answered(1);  // mean 1, deviation 1/2
    CHECK(timer.wait(0) == 3);
    timer.answered(2);  // deviation 1/2 + (1 - 1/2) / 4 = 5/8, mean 9/8
    CHECK(timer.wait(0) == 1.125 + 4 * 0.625);
    CHECK(timer.wait(1) == 2 * (1.125 + 4 * 0.625));
    for (int n = 0; n < 200; ++n) timer.answered(0);
    CHECK(timer.wait(0) == 0.125);
    CHECK(timer.wait(3) == 1);
}

TEST_CASE("a sender that learns that a packet had arrived times the second copy") {
    detail::unanswered timer({1, 0.125, 64, 1});
    timer.reset(2, 1);
    timer.sent(0, 0, 0);
    timer.had(0, 0.25);  // whatever that was
    timer.each_late(1, [&](std::size_t i) { timer.sent(i, 0, 1); });
    CHECK(timer.times(0) == 2);
    timer.had(0, 1.5);  // mean 1/2, deviation 1/4
    timer.answered(0, 3);
    timer.sent(1, 0, 4);
    CHECK(timer.wakes_at() == 3);  // of the first, which waits no more
    timer.each_late(3, [](std::size_t) { CHECK(false); });
    CHECK(timer.wakes_at() == 5.5);
}

TEST_CASE("waits that cannot be kept") {
    retransmission{}.check();
    CHECK_THROWS_AS((retransmission{1, 0, 2, 1}.check()), argument_error);
    CHECK_THROWS_AS((retransmission{1, 2, 2, 1}.check()), argument_error);
    CHECK_THROWS_AS((retransmission{3, 2, 2, 1}.check()), argument_error);
    CHECK_THROWS_AS((retransmission{1, 1, std::numeric_limits<double>::infinity(), 1}.check()), argument_error);
    CHECK_THROWS_AS((retransmission{1, 1, 2, 0}.check()), argument_error);
}
