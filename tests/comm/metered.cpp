// SPDX-License-Identifier: Apache-2.0
// `metered` counts to the byte what each rank sends and receives, and nothing of a call that fails.
#include "laconic/comm/metered.hpp"

#include "support/everything.hpp"

using namespace laconic;

TEST_CASE("it counts what this rank sends and what it receives, to the byte") {
    std::array<std::uint64_t, 3> sent{}, received{};
    std::array<bool, 3> same{};
    threads::run(3, [&](threads::member& comm) {
        metered counted(comm);
        auto const me = static_cast<std::size_t>(counted.rank());
        std::vector<std::byte> const mine(5 * me, std::byte{7});  // 0, 5 and 10 bytes
        counted.all_gather({mine});
        counted.all_gather({mine, true});  // error frames count as what they are: bytes
        same[me] = counted.from(2).bytes.size() == 10 && counted.from(2).is_error && counted.from(0).bytes.empty();
        counted.inner().all_gather({mine});
        sent[me] = counted.bytes_sent();
        received[me] = counted.bytes_received();
    });
    CHECK(sent == std::array<std::uint64_t, 3>{0, 10, 20});
    CHECK(received == std::array<std::uint64_t, 3>{30, 20, 10});
    CHECK(same == std::array<bool, 3>{true, true, true});
}

TEST_CASE("what is started is counted when it is finished, as if it had been waited for") {
    std::array<std::uint64_t, 3> sent{}, received{}, early{};
    threads::run(3, [&](threads::member& comm) {
        metered counted(comm);
        auto const me = static_cast<std::size_t>(counted.rank());
        std::vector<std::byte> const mine(5 * me, std::byte{7});  // 0, 5 and 10 bytes
        counted.start_all_gather({mine});
        early[me] = counted.bytes_sent();
        counted.finish();
        sent[me] = counted.bytes_sent();
        received[me] = counted.bytes_received();
    });
    CHECK(early == std::array<std::uint64_t, 3>{0, 0, 0});
    CHECK(sent == std::array<std::uint64_t, 3>{0, 5, 10});
    CHECK(received == std::array<std::uint64_t, 3>{15, 10, 5});
}

TEST_CASE("what is in flight in several lanes is counted when each is finished") {
    std::array<std::vector<std::uint64_t>, 2> sent, received;
    threads::run(2, [&](threads::member& comm) {
        metered counted(comm);
        auto const me = static_cast<std::size_t>(counted.rank());
        std::vector<std::byte> const mine(200);
        for (int lane = 0; lane < 3; ++lane)
            counted.start_all_gather({std::span(mine).first((me + 1) * (std::size_t{1} << 2 * lane))}, lane);
        for (int lane = 0; lane < 3; ++lane) {
            counted.finish(lane);
            sent[me].push_back(counted.bytes_sent());
            received[me].push_back(counted.bytes_received());
        }
    });
    CHECK(sent[0] == std::vector<std::uint64_t>{1, 5, 21});
    CHECK(sent[1] == std::vector<std::uint64_t>{2, 10, 42});
    CHECK(received[0] == sent[1]);
    CHECK(received[1] == sent[0]);
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
    std::array<std::uint64_t, 3> sent{}, received{}, broadcast{}, collected{};
    threads::run(3, [&](threads::member& comm) {
        metered counted(comm);
        auto const me = static_cast<std::size_t>(counted.rank());
        std::vector<std::byte> const mine(5 * (me + 1)), from_server(7 + me);  // 5, 10 and 15 bytes; 7, 8 and 9
        counted.gather(0, {mine});
        counted.broadcast(0, {from_server});
        counted.gather(2, {mine, true});
        sent[me] = counted.bytes_sent();
        received[me] = counted.bytes_received();
        broadcast[me] = counted.bytes_broadcast();
        collected[me] = counted.bytes_gathered();
    });
    CHECK(sent == std::array<std::uint64_t, 3>{10, 20, 30});
    CHECK(received == std::array<std::uint64_t, 3>{0, 7, 7});
    CHECK(broadcast == std::array<std::uint64_t, 3>{7, 0, 0});
    CHECK(collected == std::array<std::uint64_t, 3>{25, 0, 15});
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
    std::array<std::uint64_t, 3> sent{}, received{};
    threads::run(3, [&](threads::member& comm) {
        metered counted(comm);
        int const me = counted.rank(), next = (me + 1) % 3, last = (me + 2) % 3;
        std::vector<std::byte> const mine(static_cast<std::size_t>(5 * me + 1));  // 1, 6 and 11 bytes
        auto const from_last = counted.exchange(next, {mine, true}, last);
        counted.exchange(next, from_last, no_rank);  // handed on
        counted.exchange(no_rank, {mine}, last);
        counted.exchange(me, {mine}, me);
        sent[static_cast<std::size_t>(me)] = counted.bytes_sent();
        received[static_cast<std::size_t>(me)] = counted.bytes_received();
    });
    CHECK(sent == std::array<std::uint64_t, 3>{1 + 11, 6 + 1, 11 + 6});
    CHECK(received == std::array<std::uint64_t, 3>{11 + 6, 1 + 11, 6 + 1});
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
