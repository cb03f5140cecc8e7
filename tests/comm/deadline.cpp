// SPDX-License-Identifier: Apache-2.0
// A deadline of 0 never ends, a negative one is refused, and the longest does not overflow.
// An `abort_reason` keeps the first reason and rethrows the first exception.
#include "laconic/comm/deadline.hpp"

#include <chrono>

#include "support/everything.hpp"

using laconic::argument_error;
using laconic::detail::deadline;
using namespace std::chrono_literals;
using laconic::comm_error;
using laconic::detail::abort_reason;

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

TEST_CASE("the first reason is raised, and the first exception thrown again") {
    abort_reason f;
    CHECK_FALSE(f);
    f.rethrow();
    f.is(2, abort_reason::left(2));
    f.is(1, "later");
    for (int const rank : {0, 1}) try {
            rank == 0 ? throw std::runtime_error("broken") : throw 42;
        } catch (...) {
            f.threw(rank);
        }
    try {
        f.raise();
    } catch (comm_error const& e) {
        CHECK(e.rank == 2);
        CHECK(std::string(e.what()) ==
              "rank 2 has ended, while others wait for it: all ranks must make the same calls");
    }
    CHECK_THROWS_AS(f.rethrow(), std::runtime_error);
    abort_reason other;
    other.threw(3, nullptr, "no thread");
    CHECK_THROWS_WITH_AS(other.raise(), "rank 3 failed: no thread", comm_error);
}
