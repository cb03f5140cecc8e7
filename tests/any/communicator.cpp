// SPDX-License-Identifier: Apache-2.0
// any_communicator passes every call to the communicator inside, and refuses those that it lacks.
#include "laconic/any/communicator.hpp"

#include "support/everything.hpp"
#include "support/schedules.hpp"

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

TEST_CASE("what can be started is, and what cannot is waited for when it is finished") {
    std::array<std::uint64_t, 2> early{}, late{};
    threads::run(2, [&](threads::member& engine) {
        metered counted(engine);
        any_communicator comm = counted;
        auto const me = static_cast<std::size_t>(comm.rank());
        std::vector<std::byte> const mine(me + 1);
        CHECK(comm.is_point_to_point());
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
                         doctest::Contains("is not PointToPoint: it has no exchange(to, mine, from)"), argument_error);
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
