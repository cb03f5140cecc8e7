// SPDX-License-Identifier: Apache-2.0
#include "laconic/comm/threads.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>

#include "laconic/core/key.hpp"

using namespace laconic;
using namespace std::chrono_literals;

namespace {

std::vector<std::byte> utterance(int rank, std::uint64_t turn) {
    auto const length = key{turn}.child(std::uint64_t(rank)).below(0, 40);  // 0 to 39 bytes
    std::vector<std::byte> bytes(length);
    for (std::size_t i = 0; i < length; ++i) bytes[i] = std::byte(31 * rank + 7 * int(turn) + int(i));
    return bytes;
}

bool heard_right(threads::member& comm, std::uint64_t turn) {
    for (int r = 0; r < comm.size(); ++r) {
        auto const expected = utterance(r, turn);
        auto const heard = comm.from(r);
        if (heard.complaint != ((turn + std::uint64_t(r)) % 5 == 0)) return false;
        if (!std::equal(expected.begin(), expected.end(), heard.bytes.begin(), heard.bytes.end())) return false;
    }
    return true;
}

// What a rank is told when a meeting fails.
struct told {
    int rank = -7;
    std::string why;
};
told told_by(threads::member& comm) {
    try {
        comm.all_gather({});
    } catch (comm_error const& e) {
        return {e.rank, e.what()};
    }
    return {};
}

int threads_of_this_process() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("Threads:")) return std::stoi(line.substr(8));
    return -1;
}

}  // namespace

TEST_CASE("everyone hears everyone, lengths differ, complaints are marked, whatever computes at once") {
    for (int const n : {1, 2, 3, 7, 16})
        for (int const at_once : {0, 1, 2, 10}) {
            CAPTURE(n);
            CAPTURE(at_once);
            std::atomic<int> wrong = 0, computing = 0, most = 0;
            threads::run(n,
                         [&](threads::member& comm) {
                             for (std::uint64_t turn = 0; turn < 25; ++turn) {
                                 int const now = ++computing;
                                 for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
                                 }
                                 auto const mine = utterance(comm.rank(), turn);
                                 --computing;
                                 comm.all_gather({mine, (turn + std::uint64_t(comm.rank())) % 5 == 0});
                                 wrong += !heard_right(comm, turn);
                             }
                         },
                         {.at_once = at_once});
            CHECK(wrong == 0);
            if (at_once > 0) CHECK(most <= at_once);
        }
}

TEST_CASE("thousands of meetings, ranks of very different speed") {
    std::atomic<int> wrong = 0;
    threads::run(3, [&](threads::member& comm) {
        for (std::uint64_t turn = 0; turn < 4000; ++turn) {
            if (comm.rank() == int(turn % 7)) std::this_thread::yield();
            comm.all_gather({utterance(comm.rank(), turn), (turn + std::uint64_t(comm.rank())) % 5 == 0});
            wrong += !heard_right(comm, turn);
        }
    });
    CHECK(wrong == 0);
}

TEST_CASE("what is heard stays until this rank's next meeting, however far ahead others would like to be") {
    std::atomic<int> wrong = 0;
    threads::run(2, [&](threads::member& comm) {
        for (std::uint64_t turn = 0; turn < 50; ++turn) {
            comm.all_gather({utterance(comm.rank(), turn), (turn + std::uint64_t(comm.rank())) % 5 == 0});
            if (comm.rank() == 0) std::this_thread::sleep_for(200us);
            wrong += !heard_right(comm, turn);
        }
    });
    CHECK(wrong == 0);
}

TEST_CASE("where a rank throws, the others hear who and why, and run throws the same") {
    for (int const n : {2, 3, 7}) {
        std::vector<told> heard(static_cast<std::size_t>(n));
        auto const body = [&](threads::member& comm) {
            for (int turn = 0; turn < 10; ++turn) {
                if (comm.rank() == 1 && turn == 4) throw file_error("data", 3, 1, "broken line");
                auto const t = told_by(comm);
                if (t.rank == -7) continue;
                heard[static_cast<std::size_t>(comm.rank())] = t;
                throw comm_error(t.rank, t.why);
            }
        };
        try {
            threads::run(n, body);
            FAIL("no exception");
        } catch (file_error const& e) {
            CHECK(e.line == 3);
        }
        for (int r = 0; r < n; ++r) {
            if (r == 1) continue;
            CHECK(heard[std::size_t(r)].rank == 1);
            CHECK(heard[std::size_t(r)].why == "rank 1 failed: data:3:1: broken line");
        }
    }
    CHECK_THROWS_AS(threads::run(2,
                                 [](threads::member& comm) {
                                     if (comm.rank() == 0) throw 42;
                                     comm.all_gather({});
                                 }),
                    int);
}

TEST_CASE("a meeting that was complete before a rank threw counts for everyone") {
    std::atomic<int> complete = 0;
    CHECK_THROWS_AS(threads::run(3,
                                 [&](threads::member& comm) {
                                     comm.all_gather({});
                                     ++complete;
                                     if (comm.rank() == 0) throw argument_error("after the first");
                                     comm.all_gather({});
                                 }),
                    argument_error);
    CHECK(complete == 3);
}

TEST_CASE("a rank that leaves early is named") {
    told heard;
    CHECK_THROWS_AS(threads::run(2,
                                 [&](threads::member& comm) {
                                     comm.all_gather({});
                                     if (comm.rank() == 1) return;
                                     heard = told_by(comm);
                                     throw comm_error(heard.rank, heard.why);
                                 }),
                    comm_error);
    CHECK(heard.rank == 1);
    CHECK(heard.why == "rank 1 left before the others were done");
}

TEST_CASE("the rank that left is named, not one that is still on its way") {
    std::atomic<bool> told_already = false;
    told heard;
    threads::run(3, [&](threads::member& comm) {
        if (comm.rank() == 2) return;
        if (comm.rank() == 1) {
            while (!told_already) std::this_thread::yield();
            return;
        }
        heard = told_by(comm);
        told_already = true;
    });
    CHECK(heard.rank == 2);
}

TEST_CASE("a rank that comes too late is named") {
    std::atomic<bool> told_already = false;
    told heard;
    CHECK_THROWS_AS(threads::run(2,
                                 [&](threads::member& comm) {
                                     if (comm.rank() == 0) {
                                         heard = told_by(comm);
                                         told_already = true;
                                         throw comm_error(heard.rank, heard.why);
                                     }
                                     while (!told_already) std::this_thread::yield();
                                     comm.all_gather({});
                                 },
                                 {.deadline = 20ms}),
                    comm_error);
    CHECK(heard.rank == 1);
    CHECK(heard.why == "rank 1 did not come within 20 ms");
}

TEST_CASE("a rank that was too late once is not taken for one that was in time") {
    std::atomic<bool> told_already = false;
    told second;
    bool heard_something = false;
    try {
        threads::run(2,
                     [&](threads::member& comm) {
                         if (comm.rank() == 0) {
                             told_by(comm);
                             second = told_by(comm);  // nobody has come yet, so this cannot succeed
                             heard_something = second.rank == -7;
                             told_already = true;
                             return;
                         }
                         while (!told_already) std::this_thread::yield();
                     },
                     {.deadline = 20ms});
    } catch (comm_error const&) {
    }
    CHECK_FALSE(heard_something);
    CHECK(second.rank == 1);
}

TEST_CASE("a deadline that is met changes nothing") {
    std::atomic<int> wrong = 0;
    threads::run(3,
                 [&](threads::member& comm) {
                     for (std::uint64_t turn = 0; turn < 50; ++turn) {
                         comm.all_gather({utterance(comm.rank(), turn), (turn + std::uint64_t(comm.rank())) % 5 == 0});
                         wrong += !heard_right(comm, turn);
                     }
                 },
                 {.at_once = 1, .deadline = 60s});
    CHECK(wrong == 0);
}

TEST_CASE("no thread is left, and no rank is no run") {
    int const before = threads_of_this_process();
    for (int n : {1, 5}) {
        threads::run(n, [](threads::member& comm) { comm.all_gather({}); });
        CHECK_THROWS(threads::run(n, [](threads::member&) { throw argument_error("no"); }));
    }
    CHECK(threads_of_this_process() == before);
    CHECK_THROWS_WITH_AS(threads::run(0, [](threads::member&) {}), "0 ranks: at least one is needed", argument_error);
    CHECK_THROWS_AS(threads::run(-3, [](threads::member&) {}), argument_error);
}

TEST_CASE("one after another and all at once say the same bytes") {
    auto const transcript = [](int at_once) {
        std::vector<std::byte> all;
        threads::run(5,
                     [&](threads::member& comm) {
                         std::uint64_t state = std::uint64_t(comm.rank());
                         for (int turn = 0; turn < 30; ++turn) {
                             comm.all_gather({std::as_bytes(std::span(&state, 1))});
                             for (int r = 0; r < comm.size(); ++r) {
                                 std::uint64_t theirs;
                                 std::memcpy(&theirs, comm.from(r).bytes.data(), sizeof theirs);
                                 state = key{state}.child(theirs).bits;
                                 auto const heard = comm.from(r).bytes;
                                 if (comm.rank() == 2) all.insert(all.end(), heard.begin(), heard.end());
                             }
                         }
                     },
                     {.at_once = at_once});
        return all;
    };
    auto const reference = transcript(1);
    CHECK(reference.size() == 5 * 30 * 8);
    CHECK(transcript(2) == reference);
    CHECK(transcript(10) == reference);
    CHECK(transcript(0) == reference);
}
