// SPDX-License-Identifier: Apache-2.0
// `measure_cost` finds a link's cost despite slow moments, the same on all ranks, and fails on all where one fails.
#include "laconic/comm/measured_cost.hpp"

#include <atomic>

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"

// One rank alone on a link whose clock it turns itself: a message takes what it costs, and in the second and third
// repetition of four sizes twice as much.
struct toy_link {
    message_cost cost;
    double* now;
    std::size_t gathers = 0, timed = 0;
    std::vector<std::byte> sent{};
    bool is_error = false;

    int rank() const { return 0; }
    int size() const { return 1; }
    void all_gather(payload mine) {
        sent.assign(mine.bytes.begin(), mine.bytes.end());
        is_error = mine.is_error;
        ++gathers;
        double const slow = gathers > 2 + 8 && gathers <= 2 + 24 ? 2 : 1;
        *now += slow * cost(8.0 * static_cast<double>(mine.bytes.size()));
    }
    void gather(int, payload mine) { all_gather(mine); }
    void broadcast(int, payload mine) { all_gather(mine); }
    payload from(int) const { return {sent, is_error}; }
};
static_assert(Communicator<toy_link>);

cost_measurement const small{8, 4096, 3};

template <class Engine>
void all_ranks_alike(int ranks) {
    std::vector<message_cost> found(static_cast<std::size_t>(ranks));
    Engine::run(ranks, [&](auto& comm) { found[static_cast<std::size_t>(comm.rank())] = measure_cost(comm, small); });
    for (auto const& cost : found) {
        CHECK(cost == found[0]);
        CHECK(cost == affine_cost(cost.per_bit, cost.per_message));  // finite, neither below 0
        CHECK(cost(8) > 0);
    }
}

TEST_CASE("the sizes are powers of 4 times the least") {
    CHECK(small.sizes() == std::vector<std::size_t>{8, 32, 128, 512, 2048});
    CHECK(cost_measurement{}.sizes().size() == 9);
    CHECK(cost_measurement{}.sizes().back() == 524288);
    CHECK(cost_measurement{1, 4, 1}.sizes() == std::vector<std::size_t>{1, 4});
    CHECK(cost_measurement{1, SIZE_MAX, 1}.sizes().size() == 32);
    for (auto const& bad : {cost_measurement{0, 64, 1}, {8, 31, 1}, {8, 0, 1}, {8, 64, 0}, {SIZE_MAX, SIZE_MAX, 1}})
        CHECK_THROWS_AS(bad.check(), argument_error);
    CHECK_NOTHROW((cost_measurement{8, 32, 1}.check()));
}

TEST_CASE("on a link with a clock of its own the cost comes back, however slow it is now and then") {
    double now = 5;
    toy_link link{affine_cost(1e-9, 5e-5), &now};
    auto const cost = measure_cost(link, {8, 512, 4}, [&] { return now; });
    CHECK(cost.per_bit == doctest::Approx(1e-9).epsilon(1e-6).scale(0));
    CHECK(cost.per_message == doctest::Approx(5e-5).epsilon(1e-9).scale(0));
    CHECK(link.gathers == 4 + 2 * 4 * 4);
}

TEST_CASE("the slowest rank counts, wherever it is") {
    for (int const slow : {0, 2}) {
        message_cost found[3];
        fibers::run(3, [&](fibers::member& comm) {
            // Its own clock: each reading is a step later, and the steps of the slow rank are three times as long.
            double now = 0;
            double const step = comm.rank() == slow ? 3 : 1;
            found[comm.rank()] = measure_cost(comm, {1, 16, 2}, [&, step] { return now += step; });
        });
        for (auto const& cost : found) {
            CHECK(cost.per_bit == 0);
            CHECK(cost.per_message == doctest::Approx(3));
        }
    }
}

TEST_CASE("all ranks get the same numbers, on threads and on fibers") {
    for (int const ranks : {1, 2, 5}) {
        all_ranks_alike<threads>(ranks);
        all_ranks_alike<fibers>(ranks);
    }
}

TEST_CASE("what is sent for it is counted where it goes through a counter") {
    threads::run(2, [](threads::member& comm) {
        metered counted(comm);
        measure_cost(counted.inner(), {8, 32, 1});
        CHECK(counted.bytes_sent() == 0);
        measure_cost(counted, {8, 32, 1});
        // How it measures, the largest message, both sizes, their times, and the cost that rank 0 broadcasts.
        CHECK(counted.bytes_sent() == 24 + 32 + (8 + 32) + 16);
        CHECK(counted.bytes_broadcast() + counted.bytes_received() - counted.bytes_sent() == 16);
    });
}

TEST_CASE("a rank that fails ends the measurement of all") {
    auto const run = [](auto body) {
        std::string error;
        auto const watched = [&](threads::member& comm) {
            try {
                body(comm);
            } catch (comm_error const& e) {
                if (comm.rank() == 0) error = e.what();
                throw;
            }
        };
        CHECK_THROWS(threads::run(3, watched));
        return error;
    };
    auto const in_the_middle = run([](threads::member& comm) {
        int readings = 0;
        measure_cost(comm, small, [&, me = comm.rank()] {
            if (me == 1 && ++readings == 9) throw std::runtime_error("the clock broke");
            return monotonic_clock{}();
        });
    });
    CHECK(in_the_middle == "rank 1 failed: the clock broke");
    auto const at_once = run([](threads::member& comm) {
        measure_cost(comm, {8, comm.rank() == 2 ? std::size_t{8} : 4096, 1});
    });
    CHECK(at_once == "rank 2 failed: messages of 8 to 8 bytes: two sizes take 1 or more, and 4 times as many");
    auto const absent = run([](threads::member& comm) {
        if (comm.rank() != 1) measure_cost(comm, small);
    });
    CHECK(absent.find("rank 1 has ended, while others wait for it: all ranks must make the same calls") !=
          std::string::npos);
}

TEST_CASE("ranks that do not measure alike all throw, and so they do where a clock stands still") {
    std::atomic<int> thrown = 0;
    auto const all_throw = [&](auto refused, auto body) {
        thrown = 0;
        threads::run(3, [&](threads::member& comm) {
            try {
                body(comm);
            } catch (decltype(refused) const&) {
                ++thrown;
            }
        });
        CHECK(thrown == 3);
    };
    all_throw(agreement_error(-1, ""), [](auto& comm) { measure_cost(comm, {8, 64, comm.rank() == 1 ? 2 : 3}); });
    all_throw(agreement_error(-1, ""), [](auto& comm) { measure_cost(comm, {8, comm.rank() == 2 ? 64u : 65u, 2}); });
    all_throw(comm_error(-1, ""), [](auto& comm) {
        if (comm.rank() == 1) {
            comm.all_gather({});  // a rank that is elsewhere
            throw comm_error(1, "elsewhere");
        }
        measure_cost(comm, small);
    });
    all_throw(argument_error(""), [](auto& comm) { measure_cost(comm, small, [] { return 1.0; }); });
}

TEST_CASE("an all-gather among n ranks is n - 1 messages on each way") {
    CHECK(between_two(affine_cost(3e-9, 6e-5), 4) == affine_cost(1e-9, 2e-5));
    CHECK(between_two(energy_cost(2, 4, 100, 6), 3) == energy_cost(1, 2, 100, 3));
    CHECK(between_two(affine_cost(2, 64), 2) == affine_cost(2, 64));
    CHECK_THROWS_AS(between_two(affine_cost(2, 64), 1), argument_error);
}
