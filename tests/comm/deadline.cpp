// SPDX-License-Identifier: Apache-2.0
// A deadline of 0 never ends, a negative one is refused, and the longest does not overflow.
#include "laconic/comm/deadline.hpp"

#include <chrono>

#include "support/everything.hpp"

using laconic::argument_error;
using laconic::detail::deadline;
using namespace std::chrono_literals;

TEST_CASE("a deadline of 0 is none, a negative one is refused, and the longest does not overflow") {
    deadline const none(0ms), longest(std::chrono::milliseconds::max());
    CHECK_FALSE(none);
    CHECK_FALSE(none.is_over(none.from_now()));
    CHECK(longest);
    CHECK(longest.from_now() > deadline::clock::now() + 24h);
    CHECK(deadline(5ms).text() == "5 ms");
    auto const now = deadline::clock::now();
    CHECK(deadline(5ms).is_over(now - 1ms));
    CHECK_FALSE(deadline(5ms).is_over(now + 1h));
    CHECK_THROWS_AS(deadline(-1ms), argument_error);
}
