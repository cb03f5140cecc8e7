// SPDX-License-Identifier: Apache-2.0
// A deadline of 0 never ends, a negative one is refused, and the longest does not overflow.
// A doorbell loses no ring. An `abort_reason` keeps the first reason and rethrows the first exception.
#include "laconic/comm/deadline.hpp"

#include <chrono>

#include <mutex>
#include <thread>

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

TEST_CASE(
    "a doorbell: a ring is never lost, whether the other looks or sleeps; without one the deadline ends the wait") {
    std::mutex mutex;
    laconic::detail::doorbell bell;
    laconic::detail::deadline const minutes(std::chrono::minutes(5)), at_once(std::chrono::milliseconds(1)),
        none(std::chrono::milliseconds(0));
    for (auto const& longest : {minutes, none})
        for (int const yields : {0, 3, 100, 3000}) {
            bool waits = false, came = false, over = false;
            std::thread other([&] {
                std::unique_lock lock(mutex);
                waits = true;
                came = longest.wait(bell, lock, longest.from_now(), [&] { return over; });
            });
            for (bool begun = false; !begun; std::this_thread::yield()) begun = (std::lock_guard(mutex), waits);
            for (int n = 0; n < yields; ++n) std::this_thread::yield();
            {
                std::lock_guard lock(mutex);
                CHECK_FALSE(came);
                bell.ring();  // before the reason holds: it waits on
            }
            std::this_thread::yield();
            {
                std::lock_guard lock(mutex);
                CHECK_FALSE(came);
                over = true;
                bell.ring();
            }
            other.join();
            CHECK(came);
        }
    std::unique_lock lock(mutex);
    CHECK_FALSE(at_once.wait(bell, lock, at_once.from_now(), [] { return false; }));
    CHECK(at_once.wait(bell, lock, at_once.from_now(), [] { return true; }));
    CHECK(lock.owns_lock());
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
