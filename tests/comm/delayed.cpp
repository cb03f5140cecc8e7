// SPDX-License-Identifier: Apache-2.0
// `delayed` moves each rank's clock as its network's latency, bandwidth and ports say, on any engine.
#include "laconic/comm/delayed.hpp"

#include <atomic>

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"
#include "support/schedules.hpp"

// In powers of two, so that the formulas hold to the last bit: alpha = 1 + 1/4, and 1/16 a byte.
network const net{1, 0x1p-7, 0.25};
constexpr double alpha = 1.25, a_byte = 0x1p-4;

// The clocks of all ranks after body(comm), over an engine.
template <class Engine = fibers, class Body>
std::vector<double> clocks(int ranks, Body body, network how = net) {
    std::vector<double> ends(static_cast<std::size_t>(ranks));
    Engine::run(ranks, [&](auto& engine) {
        delayed comm(engine, how);
        body(comm);
        ends[static_cast<std::size_t>(comm.rank())] = comm.clock();
    });
    return ends;
}
std::vector<double> all(int ranks, double seconds) {
    return std::vector<double>(static_cast<std::size_t>(ranks), seconds);
}

std::vector<std::byte> const zeros(1000);
payload of(std::size_t bytes) { return {std::span(zeros).first(bytes)}; }

static_assert(PointToPoint<delayed<fibers::member>> && Overlapping<metered<delayed<fibers::member>>> &&
              PointToPoint<metered<delayed<metered<threads::member>>>>);

TEST_CASE("one message takes alpha and its bits, and moves its receiver's clock alone") {
    auto const ends = clocks(3, [](auto& comm) {
        if (comm.rank() == 0) comm.exchange(1, of(48), no_rank);
        if (comm.rank() == 1) comm.exchange(no_rank, {}, 0);
    });
    CHECK(ends == std::vector<double>{0, alpha + 48 * a_byte, 0});
}

TEST_CASE("who comes later than the message does not wait, and a message leaves when its sender comes") {
    auto const ends = clocks(3, [](auto& comm) {
        comm.compute(comm.rank() == 0 ? 3 : comm.rank() == 1 ? 100 : 2);
        if (comm.rank() == 0) {
            comm.exchange(1, of(16), no_rank);
            comm.exchange(2, of(16), no_rank);
        } else {
            comm.exchange(no_rank, {}, 0);
        }
    });
    CHECK(ends == std::vector<double>{3, 100, 3 + 2 * (0.25 + 1) + 1});
}

TEST_CASE("a port serves one message at a time, in each direction") {
    // Out: two messages of 1.25 s each, then there is a pause until the third.
    CHECK(clocks(2, [](auto& comm) {
              for (int k = 0; k < 3; ++k) {
                  if (k == 2) comm.compute(4);
                  comm.exchange(comm.rank() == 0 ? 1 : no_rank, of(16), comm.rank() == 0 ? no_rank : 0);
                  if (comm.rank() == 1) CHECK(comm.clock() == (k == 0 ? 2.25 : k == 1 ? 3.5 : 7.5));
              }
          }) == std::vector<double>{4, 7.5});
    // Both at the same time: each as if alone.
    CHECK(clocks(2, [](auto& comm) { comm.exchange(1 - comm.rank(), of(16), 1 - comm.rank()); }) == all(2, 2.25));
    // In: what comes at the same time is served one after the other, and what came long before passes.
    CHECK(clocks(4, [](auto& comm) {
              if (comm.rank() == 2) comm.compute(20);
              if (comm.rank() != 3) return void(comm.exchange(3, of(16), no_rank));
              comm.exchange(no_rank, {}, 2);
              CHECK(comm.clock() == 22.25);
              for (int const early : {1, 0}) comm.exchange(no_rank, {}, early);
          }) == std::vector<double>{0, 0, 20, 22.25});
    CHECK(clocks(4, [](auto& comm) {
              if (comm.rank() != 3) return void(comm.exchange(3, of(16), no_rank));
              for (int r = 0; r < 3; ++r) {
                  comm.exchange(no_rank, {}, r);
                  CHECK(comm.clock() == 2.25 + 1.25 * r);
              }
          }) == std::vector<double>{0, 0, 0, 4.75});
}

TEST_CASE("a ring takes 2 (P - 1) messages, and recursive doubling log2 P") {
    for (int const ranks : {1, 2, 3, 8}) {
        CAPTURE(ranks);
        auto const ring = [&](auto& comm) {
            int const me = comm.rank();
            for (int k = 0; k < 2 * (ranks - 1); ++k) comm.exchange((me + 1) % ranks, of(96), (me + ranks - 1) % ranks);
        };
        CHECK(clocks(ranks, ring) == all(ranks, 2 * (ranks - 1) * (alpha + 96 * a_byte)));
        CHECK(clocks<threads>(ranks, ring) == all(ranks, 2 * (ranks - 1) * (alpha + 96 * a_byte)));
        if (std::has_single_bit(static_cast<unsigned>(ranks)))
            CHECK(clocks(ranks, [](any_communicator any) { CHECK(schedules::recursive_doubling_algorithm(any) == 0); }) ==
                  all(ranks, std::countr_zero(static_cast<unsigned>(ranks)) * (alpha + 8 * a_byte)));
    }
    auto const chain = clocks(60, [](auto& comm) {
        for (int k = 0; k < 2 * 59; ++k) comm.exchange((comm.rank() + 1) % 60, of(4), (comm.rank() + 59) % 60);
    });
    CHECK(chain == all(60, 2 * 59 * (alpha + 4 * a_byte)));
}

TEST_CASE("an all-gather is a ring of exchanges, whatever its lengths and when its ranks come") {
    for (int const ranks : {1, 2, 5, 8})
        CHECK(clocks(ranks, [](auto& comm) { comm.all_gather(of(80)); }) ==
              all(ranks, (ranks - 1) * (alpha + 80 * a_byte)));
    network const odd{1e-3, 1e-5, 3e-4};
    for (int const ranks : {2, 3, 7}) {
        CAPTURE(ranks);
        auto const length = [](int r, int turn) { return static_cast<std::size_t>((37 * r * r + 11 * turn) % 90); };
        auto const work = [](auto& comm, int turn) { comm.compute(1e-3 * ((comm.rank() * 5 + turn) % 7)); };
        auto const gathered = clocks(
            ranks,
            [&](auto& comm) {
                for (int turn = 0; turn < 4; ++turn) {
                    work(comm, turn);
                    comm.all_gather(of(length(comm.rank(), turn)));
                }
            },
            odd);
        auto const exchanged = clocks(
            ranks,
            [&](auto& comm) {
                int const n = comm.size(), next = (comm.rank() + 1) % n, last = (comm.rank() + n - 1) % n;
                for (int turn = 0; turn < 4; ++turn) {
                    work(comm, turn);
                    for (int step = 0; step + 1 < n; ++step)
                        comm.exchange(next, of(length((comm.rank() + n - step) % n, turn)), last);
                }
            },
            odd);
        CHECK(gathered == exchanged);
        CHECK(gathered[0] > 0);
    }
}

TEST_CASE("what a rank computes between a start and its finish costs no time, as long as the ring takes longer") {
    for (int const ranks : {1, 2, 5, 8}) {
        CAPTURE(ranks);
        double const ring = (ranks - 1) * (alpha + 80 * a_byte);
        for (double const work : {0.0, 1.0, 6.25, 100.0}) {
            auto const body = [&](auto& comm) {
                for (int round = 0; round < 3; ++round) {
                    comm.start_all_gather(of(80));
                    double const before = comm.clock();
                    comm.compute(work);
                    CHECK(comm.clock() == before + work);
                    comm.finish();
                }
            };
            CHECK(clocks(ranks, body) == all(ranks, 3 * std::max(ring, work)));
            CHECK(clocks<threads>(ranks, body) == all(ranks, 3 * std::max(ring, work)));
        }
    }
    // Rank 2 starts at 4, when rank 1's message is there. Its own is at rank 0 after 2.25 s and 2.25 s later at rank 1;
    // rank 1's, which it passes on behind its own, is at rank 0 after 1.25 + 2.25 s.
    auto const ends = clocks(3, [](auto& comm) {
        if (comm.rank() == 2) comm.compute(4);
        comm.start_all_gather(of(16));
        comm.compute(comm.rank() == 0 ? 3 : comm.rank() == 1 ? 9 : 0);
        comm.finish();
    });
    CHECK(ends == std::vector<double>{7.5, 9, 4.5});
    // The ports are as busy afterwards as the ring has left them, whenever its rank looks.
    auto const next = [](double work) {
        return clocks(3, [work](auto& comm) {
            comm.start_all_gather(of(16));
            comm.compute(work);
            comm.finish();
            comm.exchange((comm.rank() + 1) % 3, of(16), (comm.rank() + 2) % 3);
        });
    };
    CHECK(next(0) == all(3, 3 * 2.25));
    CHECK(next(2) == next(0));
    CHECK(next(50) == all(3, 52.25));
}

TEST_CASE("of lanes in flight together the next ring sends when the one before has sent its last message") {
    // A rank sends two messages around a ring, each of which takes 2.25 s and its port for 1.25 s: the second leaves
    // from 2.25 s on, so that the next ring begins at 3.5 s.
    double const ring = alpha + 16 * a_byte;
    CHECK(clocks(3, [](auto& comm) {
              comm.start_all_gather(of(16), 0);
              comm.finish(0);
          }) == all(3, 2 * ring));
    double const busy = net.busy(16);
    auto const together = [&](double between, double work) {
        return clocks(3, [&](auto& comm) {
            comm.start_all_gather(of(16), 6);
            comm.compute(between);
            comm.start_all_gather(of(16), 1);
            comm.compute(work);
            comm.finish(6);
            comm.finish(1);
        });
    };
    CHECK(together(0, 0) == all(3, ring + busy + 2 * ring));
    CHECK(together(1, 2) == together(0, 0));  // within the ring of the first
    CHECK(together(50, 0) == all(3, 50 + 2 * ring));
    CHECK(together(0, 100) == all(3, 100));
}

TEST_CASE("a server receives the ranks' messages one after the other, and sends them its own in the same way") {
    double const busy = 0.25 + 32 * a_byte;
    auto const gathered = clocks(4, [](auto& comm) { comm.gather(1, of(32)); });
    CHECK(gathered == std::vector<double>{0, 1 + 3 * busy, 0, 0});
    auto const broadcast_ends = clocks(4, [](auto& comm) { comm.broadcast(1, of(comm.rank() == 1 ? 32 : 500)); });
    CHECK(broadcast_ends == std::vector<double>{1 + busy, 0, 1 + 2 * busy, 1 + 3 * busy});
    // Both, and by hand.
    auto const round = clocks(4, [](auto& comm) {
        comm.compute(comm.rank());
        comm.gather(0, of(32));
        comm.broadcast(0, of(48));
    });
    auto const by_hand = clocks(4, [](auto& comm) {
        comm.compute(comm.rank());
        if (comm.rank() == 0) {
            for (int r = 1; r < 4; ++r) comm.exchange(no_rank, {}, r);
            for (int r = 1; r < 4; ++r) comm.exchange(r, of(48), no_rank);
        } else {
            comm.exchange(0, of(32), no_rank);
            comm.exchange(no_rank, {}, 0);
        }
    });
    CHECK(round == by_hand);
    CHECK(round[3] > 3 + 2 * alpha);
}

TEST_CASE("the clocks are the same from any engine, however its ranks take turns") {
    network const odd{1e-3, 1e-6, 1e-4};
    auto const body = [](auto& comm) {
        comm.compute(1e-4 * comm.rank());
        any_communicator any(comm);
        schedules::random_schedule(any, 5, 12);
        schedules::mixed_with_collectives(any);
    };
    auto const expected = clocks(6, body, odd);
    CHECK(*std::min_element(expected.begin(), expected.end()) > 0);
    for (int k = 0; k < 5; ++k) CHECK(clocks<threads>(6, body, odd) == expected);
}

TEST_CASE("one port for both ways sends and receives one after the other") {
    network radio = net;
    radio.half_duplex = true;
    // A message of 16 bytes takes 1.25 s, and 1 s to come: partners who send at once receive 0.25 s later.
    auto const both = [](auto& comm) { comm.exchange(1 - comm.rank(), of(16), 1 - comm.rank()); };
    CHECK(clocks(2, both, radio) == all(2, 2.5));
    CHECK(clocks(2, both) == all(2, 2.25));
    for (int const ranks : {2, 3, 8}) {
        auto const ring = [&](auto& comm) {
            int const me = comm.rank();
            for (int k = 0; k < 5; ++k) comm.exchange((me + 1) % ranks, of(96), (me + ranks - 1) % ranks);
        };
        CHECK(clocks(ranks, ring, radio) == all(ranks, 5 * 2 * (0.25 + 96 * a_byte)));
        CHECK(clocks<threads>(ranks, ring, radio) == all(ranks, 5 * 2 * (0.25 + 96 * a_byte)));
        // Everybody's to everybody: each port is busy with all that comes and goes, and nothing waits for anything
        // else.
        auto const each = [&](auto& comm) {
            int const me = comm.rank();
            for (int k = 1; k < ranks; ++k) comm.exchange((me + k) % ranks, of(96), no_rank);
            for (int k = 1; k < ranks; ++k) comm.exchange(no_rank, {}, (me + k) % ranks);
        };
        CHECK(clocks(ranks, each, radio) == all(ranks, 2 * (ranks - 1) * (0.25 + 96 * a_byte)));
        CHECK(clocks(ranks, each) == all(ranks, 1 + (ranks - 1) * (0.25 + 96 * a_byte)));
    }
    // One way only: the same.
    auto const one = [](auto& comm) {
        comm.exchange(comm.rank() == 0 ? 1 : no_rank, of(16), comm.rank() == 0 ? no_rank : 0);
    };
    CHECK(clocks(2, one, radio) == clocks(2, one));
    CHECK(clocks(
              3, [](auto& comm) { comm.all_gather(of(96)); }, radio) == all(3, 4 * (0.25 + 96 * a_byte)));
}

TEST_CASE("a port is busy as long in whatever order its messages are taken") {
    // 5 ranks send to rank 0, messages of 1.25 to 5.25 s, at different times.
    std::vector<int> order{1, 2, 3, 4, 5};
    do {
        auto const ends = clocks(6, [&](auto& comm) {
            comm.compute(comm.rank() % 3 * 2);
            if (comm.rank() != 0) return void(comm.exchange(0, of(16 * std::size_t(comm.rank())), no_rank));
            for (int const r : order) comm.exchange(no_rank, {}, r);
        });
        // Rank 3's is there at 1 s and the last bit of all after 5 x 0.25 + 15 x 1 s without a pause.
        CHECK(ends[0] == 1 + 5 * 0.25 + 15);
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("a rank that sends without times, and numbers that are no seconds, are refused") {
    CHECK_THROWS_WITH_AS(threads::run(2,
                                      [](threads::member& engine) {
                                          if (engine.rank() == 1) return void(engine.exchange(0, of(7), no_rank));
                                          delayed comm(engine, net);
                                          comm.exchange(no_rank, {}, 1);
                                      }),
                         "rank 1 sends no times: its network is not delayed", comm_error);
    CHECK_THROWS_AS(threads::run(2,
                                 [](threads::member& engine) {
                                     if (engine.rank() == 1) return engine.gather(0, of(7));
                                     delayed comm(engine, net);
                                     comm.all_gather({});
                                 }),
                    comm_error);
    double const nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    threads::run(1, [&](threads::member& engine) {
        for (double const bad : {-1.0, nan, inf}) {
            CHECK_THROWS_AS(delayed(engine, {bad, 0, 0}), argument_error);
            CHECK_THROWS_AS(delayed(engine, {0, bad, 0}), argument_error);
            CHECK_THROWS_AS(delayed(engine, {0, 0, bad}), argument_error);
            delayed comm(engine, network{});
            CHECK_THROWS_AS(comm.compute(bad), argument_error);
            CHECK(comm.clock() == 0);
        }
        CHECK_THROWS_WITH_AS(delayed(engine, {-1, 0, 0}), "a network with -1 seconds: they are finite and at least 0",
                             argument_error);
    });
}
