// SPDX-License-Identifier: Apache-2.0
// What a loop computes between send() and receive() overlaps with its messages' way, and changes none of them.
#include "laconic/any/communicator.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/end_of_a_run.hpp"
#include "support/everything.hpp"
#include "support/passed_on.hpp"

static_assert(!Overlapping<passed_on<threads::member>>);  // which waits in send()

// Where a run ends, and how many bytes it sent and received.
struct ended {
    std::vector<double> x;
    std::uint64_t sent = 0, received = 0;
    bool operator==(ended const&) const = default;
};
constexpr std::size_t rounds_of_overlap = 12;

ended run_of(any_communicator engine, std::function<void()> const& between) {
    metered comm(engine);
    short_run::bowl const f{1.0 * comm.rank()};
    ended end{std::vector<double>(50)};
    problem const p{.dimension = 50,
                    .workers = comm.size(),
                    .smoothness = 3,
                    .strong_convexity = 1,
                    .largest_smoothness = 3,
                    .least_strong_convexity = 1};
    descent run(diana{rand_k{0.2} | natural{}}.compose<double, host>(p), f, comm, std::span(end.x), 3);
    for (std::size_t k = 0; k < rounds_of_overlap; ++k) {
        run.send();
        between();
        run.receive();
    }
    end.sent = comm.bytes_sent();
    end.received = comm.bytes_received();
    return end;
}

TEST_CASE("a run sends the same bytes and ends in the same place, whether its engine waits in send() or in receive()") {
    std::vector<ended> waited(3), overlapped(3), in_turns(3);
    threads::run(3, [&](threads::member& engine) {
        passed_on<threads::member> comm{&engine};
        waited[std::size_t(engine.rank())] = run_of(comm, [] {});
    });
    threads::run(3, [&](threads::member& engine) { overlapped[std::size_t(engine.rank())] = run_of(engine, [] {}); });
    fibers::run(3, [&](fibers::member& engine) { in_turns[std::size_t(engine.rank())] = run_of(engine, [] {}); });
    CHECK(waited[0].sent > 0);
    CHECK(waited[0].x[0] != 0);
    CHECK(overlapped == waited);
    CHECK(in_turns == waited);
}

TEST_CASE("a round takes as long as its messages or as what is computed meanwhile, whichever is longer") {
    // 1 s a message and nothing for its bits, so that of 4 ranks each takes 3 s to receive all.
    network const net{1, 0, 0};
    double begun = 0;  // after the ranks have agreed
    auto const seconds = [&](double work, bool waits) {
        double end = 0;
        fibers::run(4, [&](fibers::member& engine) {
            delayed comm(engine, net);
            passed_on<delayed<fibers::member>> blocking{&comm};
            auto const between = [&] { comm.compute(work); };
            waits ? run_of(blocking, between) : run_of(comm, between);
            if (comm.rank() == 2) end = comm.clock();
        });
        return end - begun;
    };
    begun = seconds(0, true) - rounds_of_overlap * 3.0;
    CHECK(seconds(0, false) == rounds_of_overlap * 3.0);
    CHECK(seconds(2, false) == rounds_of_overlap * 3.0);
    CHECK(seconds(3, false) == rounds_of_overlap * 3.0);
    CHECK(seconds(5, false) == rounds_of_overlap * 5.0);
    CHECK(seconds(2, true) == rounds_of_overlap * (3.0 + 2.0));
}
