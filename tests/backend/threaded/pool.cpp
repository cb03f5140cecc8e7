// SPDX-License-Identifier: Apache-2.0
#include "laconic/backend/threaded/pool.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/test.hpp"

using laconic::detail::thread_pool;

TEST_CASE("each run calls every number once, each on a thread of its own, the first on the caller's") {
    for (std::size_t const others : {0u, 1u, 4u}) {
        thread_pool pool(others);
        for (int turn = 0; turn < 100; ++turn) {
            std::vector<int> calls(others + 1);
            std::vector<std::thread::id> by(others + 1);
            pool.run([&](std::size_t t) { ++calls[t], by[t] = std::this_thread::get_id(); });
            CHECK(calls == std::vector<int>(others + 1, 1));
            CHECK(by[0] == std::this_thread::get_id());
            CHECK(std::set(by.begin(), by.end()).size() == others + 1);
        }
    }
}

TEST_CASE("an exception comes when all are done: that of the first thread which has one; the next run succeeds") {
    thread_pool pool(3);
    for (std::size_t const first : {0u, 1u, 3u}) {
        std::atomic<int> done = 0;
        CHECK_THROWS_WITH_AS(pool.run([&](std::size_t t) {
            if (t < first) std::this_thread::sleep_for(std::chrono::milliseconds(2));
            ++done;
            if (t >= first) throw std::runtime_error(std::to_string(t));
        }),
                             std::to_string(first).c_str(), std::runtime_error);
        CHECK(done == 4);
        pool.run([&](std::size_t) { ++done; });
        CHECK(done == 8);
    }
}

TEST_CASE("a pool that never runs ends") { thread_pool const pool(2); }
