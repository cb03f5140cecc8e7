// SPDX-License-Identifier: Apache-2.0
// `replay` of recorded logs ends when `delayed` ends, and racks share their links in the order of time.
#include "laconic/comm/replay.hpp"

#include <atomic>

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"
#include "support/schedules.hpp"

using times = std::vector<double>;
using logs = std::vector<std::vector<log_entry>>;
constexpr int none = no_rank, all = log_entry::everyone;

// In powers of two: 1/16 a byte through a port, 1/4 through a link.
network const port{1, 0x1p-7, 0.25}, slow_link{2, 0x1p-5, 0.5};

std::vector<std::byte> const zeros(1000);
payload of(std::size_t bytes) { return {std::span(zeros).first(bytes)}; }

// Work, pairs and collective calls, which the same numbers decide on all ranks.
auto const busy_body = [](auto& comm) {
    comm.compute(1e-4 * comm.rank());
    any_communicator any(comm);
    schedules::random_schedule(any, 5, 12);
    schedules::mixed_with_collectives(any);
    comm.all_gather(of(std::size_t(40 + 13 * comm.rank())));
    comm.start_all_gather(of(std::size_t(30 + 7 * comm.rank())));
    comm.compute(3e-2 * (comm.rank() % 3));
    comm.finish();
    comm.gather(2, of(std::size_t(80 - comm.rank())));
    comm.compute(2e-4);
    comm.broadcast(1, of(70));
    schedules::with_oneself(any);
};

template <class Engine, class Body>
logs recorded_in(int ranks, Body body) {
    logs all_logs(static_cast<std::size_t>(ranks));
    Engine::run(ranks, [&](auto& inner) {
        recorded comm(inner);
        body(comm);
        all_logs[std::size_t(comm.rank())] = comm.take_log();
    });
    return all_logs;
}

TEST_CASE("without racks the times are those of delayed") {
    for (bool const radio : {false, true}) {
        network const odd{1e-3, 1e-5, 1e-4, radio};
        for (int const ranks : {3, 6, 7}) {
            times ends(static_cast<std::size_t>(ranks));
            fibers::run(ranks, [&](fibers::member& inner) {
                delayed comm(inner, odd);
                busy_body(comm);
                ends[std::size_t(comm.rank())] = comm.clock();
            });
            auto const was = recorded_in<fibers>(ranks, busy_body);
            CHECK(replay({odd}, was) == ends);
            CHECK(replay({odd, ranks}, was) == ends);  // all in one rack
            // Racks of one rank behind links that take no time.
            auto const apart = replay({odd, 1}, was);
            for (std::size_t r = 0; r < ends.size(); ++r) CHECK(apart[r] == doctest::Approx(ends[r]).epsilon(1e-12));
            CHECK(*std::min_element(ends.begin(), ends.end()) > 0);
        }
    }
}

TEST_CASE("the times are the same from any engine, however its ranks take turns") {
    racks const how{{1e-3, 1e-6, 1e-4}, 2, {1e-3, 2e-6, 1e-4}};
    auto const expected = replay(how, recorded_in<fibers>(6, busy_body));
    for (int k = 0; k < 5; ++k) CHECK(replay(how, recorded_in<threads>(6, busy_body)) == expected);
    for (int k = 0; k < 3; ++k) {
        times ends(std::size_t{6});
        threads::run(6, [&](threads::member& inner) {
            recorded comm(inner);
            busy_body(comm);
            auto const before = comm.log();
            ends[std::size_t(comm.rank())] = replayed_clock(comm, how);
            CHECK(comm.log() == before);
        });
        CHECK(ends == expected);
    }
}

TEST_CASE("ranks of a rack share its links, in the order of time") {
    // 0 and 1 send 16 bytes each to 2 and 3, in the other rack: 1.25 s through a port, 4.5 s through a link.
    auto const pairs = [](double works_0, double works_1) {
        return logs{{{2, none, 16, works_0}}, {{3, none, 16, works_1}}, {{none, 0, 0, 0}}, {{none, 1, 0, 0}}};
    };
    racks const two{port, 2, slow_link};
    CHECK(replay(two, pairs(0, 0)) == times{0, 0, 4.5 + 2 + 1, 9 + 2 + 1});
    CHECK(replay(two, pairs(1, 0)) == times{1, 0, 9 + 2 + 1, 4.5 + 2 + 1});
    CHECK(replay(two, pairs(0, 100)) == times{0, 100, 7.5, 107.5});
    // Through links that are four times as fast as ports, four pass at a time.
    racks const fast{{1, 0x1p-7, 0}, 4, {2, 0x1p-9, 0}};
    logs eight(std::size_t{8});
    for (int r = 0; r < 4; ++r) {
        eight[std::size_t(r)] = {{r + 4, none, 64, 0}};
        eight[std::size_t(r) + 4] = {{none, r, 0, 0}};
    }
    CHECK(replay(fast, eight) == times{0, 0, 0, 0, 7, 7, 7, 7});
    // Into one rank, its port is what lacks.
    for (std::size_t r = 0; r < 8; ++r)
        eight[r] = r < 4 ? std::vector<log_entry>{{4, none, 64, 0}} : std::vector<log_entry>{};
    for (int r = 3; r >= 0; --r) eight[4].push_back({none, r, 0, 0});
    CHECK(replay(fast, eight)[4] == 4 * 4 + 3);
}

TEST_CASE("up and down at the same time, unless the link has but one direction") {
    logs const both_ways{{{1, 1, 16, 0}}, {{0, 0, 16, 0}}};
    racks how{port, 1, slow_link};
    CHECK(replay(how, both_ways) == times(2, 4.5 + 2 + 1));
    how.links.half_duplex = true;
    // Rank 0's goes up, and down from 2 to 6.5 in the other rack, whose own has gone up until 4.5.
    CHECK(replay(how, both_ways) == times(2, 4.5 + 4.5 + 2 - 2 + 1));
}

TEST_CASE("a ring through racks is as slow as its links") {
    // 3 racks of 4, each step through every uplink once: latency and bits of a link, and those of the ports hidden.
    int const ranks = 12;
    auto const was = recorded_in<fibers>(ranks, [&](auto& comm) {
        for (int step = 0; step < 22; ++step)
            comm.exchange((comm.rank() + 1) % ranks, of(96), (comm.rank() + 11) % ranks);
    });
    auto const ends = replay({port, 4, slow_link}, was);
    // The first message through a link is there after 24.5 + 3; each later one leaves when another has come.
    double const alone = 24.5 + 2 + 1, inside = 1.25 + 6;
    CHECK(*std::max_element(ends.begin(), ends.end()) <= 22 * alone);
    CHECK(*std::min_element(ends.begin(), ends.end()) >= 22 * inside);
    CHECK(replay({port, 4, network{}}, was) == times(12, 22 * inside));
    CHECK(replay({port, 1, slow_link}, was) == times(12, 22 * alone));
}

TEST_CASE("what is not whole is refused") {
    racks const flat{port};
    CHECK_THROWS_WITH_AS(replay(flat, logs{{{1, 1, 3, 0}}, {{none, 0, 0, 0}}}),
                         "rank 0 waits for rank 1: no rank can go on", comm_error);
    CHECK_THROWS_WITH_AS(replay(flat, logs{{{all, all, 3, 0}}, {}}), "rank 1 was in 0 all-gathers, rank 0 in 1",
                         argument_error);
    CHECK_THROWS_AS(replay(flat, logs{{{1, none, 3, 0}}}), argument_error);
    CHECK_THROWS_AS(replay({port, -1}, logs{}), argument_error);
    CHECK_THROWS_AS(replay({port, 1, {-1}}, logs{}), argument_error);
    CHECK(replay(flat, logs{}).empty());
    CHECK(replay(flat, logs{{}, {}}) == times{0, 0});
    std::atomic<int> thrown = 0;
    threads::run(3, [&](threads::member& inner) {
        recorded comm(inner);
        if (comm.rank() == 1) comm.exchange(2, of(3), no_rank);
        if (comm.rank() == 2) comm.exchange(no_rank, {}, 1);
        if (comm.rank() == 1) comm.take_log();
        try {
            replayed_clock(comm, flat);
        } catch (comm_error const& e) {
            thrown += std::string(e.what()).find("rank 2 waits for rank 1: no rank can go on") != std::string::npos;
        }
    });
    CHECK(thrown == 3);
}
