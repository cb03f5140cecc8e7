// SPDX-License-Identifier: Apache-2.0
// `metered` counts to the byte what each rank sends and receives, and nothing of a call that fails.
#include "laconic/comm/metered.hpp"

#include "support/everything.hpp"

// Sent, received, broadcast and gathered, in bytes.
using counts = std::array<std::uint64_t, 4>;
template <class C>
counts of(metered<C> const& c) {
    return {c.bytes_sent(), c.bytes_received(), c.bytes_broadcast(), c.bytes_gathered()};
}
// What each rank has counted after body(counted, rank).
template <class Body>
std::vector<counts> counted_of(int ranks, Body body) {
    std::vector<counts> all(static_cast<std::size_t>(ranks));
    threads::run(ranks, [&](threads::member& comm) {
        metered counted(comm);
        auto const me = static_cast<std::size_t>(comm.rank());
        body(counted, me);
        all[me] = of(counted);
    });
    return all;
}

TEST_CASE("it counts what this rank sends and what it receives, to the byte") {
    CHECK(counted_of(3, [&](auto& counted, std::size_t me) {
              std::vector<std::byte> const mine(5 * me, std::byte{7});  // 0, 5 and 10 bytes
              counted.all_gather({mine});
              counted.all_gather({mine, true});  // error frames count as what they are: bytes
              CHECK(counted.from(2).bytes.size() == 10);
              CHECK((counted.from(2).is_error && counted.from(0).bytes.empty()));
              counted.inner().all_gather({mine});
          }) == std::vector<counts>{{0, 30}, {10, 20}, {20, 10}});
}

TEST_CASE("what is started is counted when it is finished, as if it had been waited for") {
    CHECK(counted_of(3, [&](auto& counted, std::size_t me) {
              std::vector<std::byte> const mine(5 * me, std::byte{7});  // 0, 5 and 10 bytes
              counted.start_all_gather({mine});
              CHECK(counted.bytes_sent() == 0);
              counted.finish();
          }) == std::vector<counts>{{0, 15}, {5, 10}, {10, 5}});
}

TEST_CASE("what is in flight in several lanes is counted when each is finished") {
    counted_of(2, [&](auto& counted, std::size_t me) {
        std::vector<std::byte> const mine(200);
        for (int lane = 0; lane < 3; ++lane)
            counted.start_all_gather({std::span(mine).first((me + 1) * (std::size_t{1} << 2 * lane))}, lane);
        for (int lane = 0; lane < 3; ++lane) {
            std::uint64_t const own = std::array{1u, 5u, 21u}[std::size_t(lane)];  // rank 0's so far, half of rank 1's
            counted.finish(lane);
            CHECK(of(counted) == counts{(me + 1) * own, (2 - me) * own});
        }
    });
}

TEST_CASE("a collective call that fails is not counted") {
    std::uint64_t sent = 99;
    CHECK_THROWS_AS(threads::run(2,
                                 [&](threads::member& comm) {
                                     metered counted(comm);
                                     if (counted.rank() == 1) throw argument_error("no");
                                     try {
                                         std::byte const word[4] = {};
                                         counted.all_gather({word});
                                     } catch (comm_error const&) {
                                         sent = counted.bytes_sent();
                                     }
                                 }),
                    argument_error);
    CHECK(sent == 0);
}

TEST_CASE("a server's part is counted apart: what it gathers, and what it broadcasts, once for all") {
    CHECK(counted_of(3, [&](auto& counted, std::size_t me) {
              std::vector<std::byte> const mine(5 * (me + 1)), from_server(7 + me);  // 5, 10 and 15 bytes; 7, 8 and 9
              counted.gather(0, {mine});
              counted.broadcast(0, {from_server});
              counted.gather(2, {mine, true});
          }) == std::vector<counts>{{10, 0, 7, 25}, {20, 7, 0, 0}, {30, 7, 0, 15}});
}

TEST_CASE("innermost() gives the communicator under all counters") {
    threads::run(1, [](threads::member& comm) {
        metered counted(comm);
        CHECK(&detail::innermost(counted) == &comm);
        CHECK(&detail::innermost(comm) == &comm);
        metered<metered<threads::member>> twice(counted);
        CHECK(&detail::innermost(twice) == &comm);
    });
}

TEST_CASE("what goes between two ranks is counted at both, and what a rank sends itself nowhere") {
    CHECK(counted_of(3, [&](auto& counted, std::size_t rank) {
              int const me = int(rank), next = (me + 1) % 3, last = (me + 2) % 3;
              std::vector<std::byte> const mine(5 * rank + 1);  // 1, 6 and 11 bytes
              auto const from_last = counted.exchange(next, {mine, true}, last);
              counted.exchange(next, from_last, no_rank);  // handed on
              counted.exchange(no_rank, {mine}, last);
              counted.exchange(me, {mine}, me);
          }) == std::vector<counts>{{1 + 11, 11 + 6}, {6 + 1, 1 + 11}, {11 + 6, 6 + 1}});
}

TEST_CASE("what an engine adds up is counted as the numbers that it takes and gives back") {
    struct adding : threads::member {
        void all_reduce(std::span<float> x) { x[0] *= 2; }
    };
    threads::run(1, [](threads::member& inner) {
        adding engine{inner};
        metered comm(engine);
        float x[3] = {1, 2, 3};
        comm.all_reduce(std::span<float>(x));
        CHECK(x[0] == 2);
        CHECK(comm.bytes_sent() == 12);
        CHECK(comm.bytes_received() == 12);
    });
    static_assert(!AllReducer<metered<threads::member>, float>);
}

TEST_CASE("what leaves a rank over its link is what it sends, once for each receiver") {
    threads::run(3, [](threads::member& inner) {
        metered comm(inner);
        std::vector<std::byte> const mine(10);
        std::uint64_t out = 0;
        auto const adds = [&](std::uint64_t bytes) { CHECK(comm.bytes_out() == (out += bytes)); };
        comm.all_gather({mine}), adds(20);
        comm.start_all_gather({mine}), adds(0);
        comm.finish(), adds(20);
        comm.gather(1, {mine}), adds(comm.rank() == 1 ? 0 : 10);
        comm.broadcast(2, {mine}), adds(comm.rank() == 2 ? 20 : 0);
        static_cast<void>(comm.exchange((comm.rank() + 1) % 3, {mine}, (comm.rank() + 2) % 3)), adds(10);
        static_cast<void>(comm.exchange(comm.rank(), {mine}, comm.rank())), adds(0);
    });
}
