// SPDX-License-Identifier: Apache-2.0
// any_communicator passes every call to the communicator inside, and refuses those that it lacks.
#include "laconic/any/communicator.hpp"

#include "support/everything.hpp"
#include "support/schedules.hpp"

using namespace laconic;

static_assert(PointToPoint<any_communicator> && Overlapping<any_communicator> && AllReducer<any_communicator, float> &&
              AllReducer<any_communicator, double>);

// One rank, with collective calls only.
struct alone {
    payload sent{};
    int rank() const { return 0; }
    int size() const { return 1; }
    void all_gather(payload mine) { sent = mine; }
    void gather(int, payload mine) { sent = mine; }
    void broadcast(int, payload mine) { sent = mine; }
    payload from(int) const { return sent; }
};
// One that adds up, too.
struct adding : alone {
    template <class T>
    void all_reduce(std::span<T> x) {
        for (T& v : x) v *= 2;
    }
};

TEST_CASE("every call reaches the communicator underneath, which counts it") {
    std::array<std::uint64_t, 3> sent{}, received{}, broadcast{}, collected{};
    std::array<int, 3> wrong{};
    threads::run(3, [&](threads::member& engine) {
        metered counted(engine);
        any_communicator comm = counted;
        auto const me = static_cast<std::size_t>(comm.rank());
        auto& bad = wrong[me];
        bad += comm.rank() != engine.rank() || comm.size() != 3 || !comm.is_point_to_point();
        std::vector<std::byte> const mine(me + 1, static_cast<std::byte>(me));
        comm.all_gather({mine});
        for (int r = 0; r < 3; ++r) {
            auto const theirs = comm.from(r);
            bad += theirs.is_error || theirs.bytes.size() != static_cast<std::size_t>(r) + 1 ||
                   theirs.bytes[0] != static_cast<std::byte>(r);
        }
        comm.gather(1, {mine, true});
        if (me == 1) bad += !comm.from(2).is_error || comm.from(2).bytes.size() != 3;
        auto copy = comm;
        copy.broadcast(2, {mine});
        bad += comm.from(2).bytes.size() != 3;
        auto const theirs = copy.exchange((comm.rank() + 1) % 3, {mine, me == 0}, (comm.rank() + 2) % 3);
        bad += theirs.bytes.size() != (me + 2) % 3 + 1 || theirs.is_error != (me == 1);
        sent[me] = counted.bytes_sent();
        received[me] = counted.bytes_received();
        broadcast[me] = counted.bytes_broadcast();
        collected[me] = counted.bytes_gathered();
    });
    CHECK(wrong == std::array<int, 3>{});
    CHECK(sent == std::array<std::uint64_t, 3>{3, 6, 9});       // three times its own
    CHECK(received == std::array<std::uint64_t, 3>{11, 8, 5});  // of all, of rank 2's answer, of the rank before
    CHECK(broadcast == std::array<std::uint64_t, 3>{0, 0, 3});
    CHECK(collected == std::array<std::uint64_t, 3>{0, 4, 0});
}

TEST_CASE("what can be started is, and what cannot is waited for when it is finished") {
    std::array<std::uint64_t, 2> early{}, late{};
    threads::run(2, [&](threads::member& engine) {
        metered counted(engine);
        any_communicator comm = counted;
        auto const me = static_cast<std::size_t>(comm.rank());
        std::vector<std::byte> const mine(me + 1);
        comm.start_all_gather({mine});
        early[me] = counted.bytes_sent();
        comm.finish();
        late[me] = counted.bytes_sent();
        CHECK(schedules::refuses_what_comes_between(comm) == 0);
        CHECK(schedules::in_flight_together(comm, 3) == 0);
    });
    CHECK(early == std::array<std::uint64_t, 2>{0, 0});
    CHECK(late == std::array<std::uint64_t, 2>{1, 2});
    alone inside;
    any_communicator comm(inside);
    std::byte const word[4] = {};
    comm.start_all_gather({word}, 1);
    comm.start_all_gather({std::span(word).first(3)}, 0);
    CHECK(inside.sent.bytes.empty());
    CHECK_THROWS_AS(comm.all_gather({}), argument_error);
    CHECK_THROWS_AS(comm.gather(0, {}), argument_error);
    CHECK_THROWS_AS(comm.broadcast(0, {}), argument_error);
    CHECK_THROWS_AS(comm.finish(0), argument_error);
    comm.finish(1);
    CHECK(comm.from(0).bytes.size() == 4);
    comm.finish(0);
    CHECK(comm.from(0).bytes.size() == 3);
}

TEST_CASE("a communicator with collective calls alone has them, and states that it is not PointToPoint") {
    alone inside;
    any_communicator comm(inside);
    std::byte const word[4] = {};
    comm.all_gather({word});
    CHECK(inside.sent.bytes.size() == 4);
    CHECK_FALSE(comm.is_point_to_point());
    CHECK_THROWS_WITH_AS(comm.exchange(0, {word}, 0),
                         "this communicator is not PointToPoint: it has no exchange(to, mine, from)", argument_error);
}

TEST_CASE("an engine that adds up does so, and another does not") {
    adding inside;
    any_communicator comm(inside);
    double x[2] = {1.5, -2};
    float y[1] = {.25f};
    comm.all_reduce(std::span<double>(x));
    comm.all_reduce(std::span<float>(y));
    CHECK(x[0] == 3);
    CHECK(x[1] == -4);
    CHECK(y[0] == .5f);
    alone other;
    any_communicator without(other);
    CHECK_THROWS_WITH_AS(without.all_reduce(std::span<double>(x)),
                         "this communicator's engine adds up no vectors: it has no all_reduce(x)", argument_error);
    CHECK_THROWS_AS(without.all_reduce(std::span<float>(y)), argument_error);
}

TEST_CASE("what is shared in one process is not counted, and elsewhere there is nothing to share by") {
    std::array<int, 2> wrong{};
    threads::run(2, [&](threads::member& engine) {
        metered counted(engine);
        any_communicator comm = counted;
        auto const me = static_cast<std::size_t>(comm.rank());
        std::vector<std::byte> const mine(me + 1);
        wrong[me] += !comm.in_one_process();
        comm.share({mine});
        wrong[me] += comm.from(1).bytes.size() != 2 || counted.bytes_sent() != 0 || counted.bytes_received() != 0;
    });
    CHECK(wrong == std::array<int, 2>{});
    alone one;
    any_communicator comm = one;
    CHECK(!comm.in_one_process());
    CHECK_THROWS_WITH_AS(comm.share({}), "this communicator's ranks are not in one process: it has no share(mine)",
                         argument_error);
}
