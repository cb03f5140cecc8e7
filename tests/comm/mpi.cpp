// SPDX-License-Identifier: Apache-2.0
// `mpi` carries collectives and exchanges under mpirun, gives the bits of threads, and names ranks that leave or stall.
#include "laconic/comm/mpi.hpp"

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "decentralized/bowl.hpp"
#include "support/end_of_a_run.hpp"
#include "support/everything.hpp"
#include "support/schedules.hpp"
#include "support/subgroups.hpp"

// A program of its own, which is run under mpirun with 1, 3, 4 and 8 ranks; each rank makes all checks. With --throw=R
// rank R throws instead while the others wait for it, with --leave=R it returns, with --late=R it comes no more, and
// with
// --survive=R the others return when it does not come. With --own=0 and 1 the program starts and ends MPI itself.

using namespace std::chrono_literals;
using schedules::test_message;
using short_run::end_of_a_run;

static_assert(PointToPoint<mpi::member> && Overlapping<mpi::member> && Splitting<mpi::member> &&
              AllReducer<mpi::member, float> && AllReducer<mpi::member, double>);

namespace {

mpi::member* world = nullptr;
int collectives(any_communicator comm) { return schedules::collectives(comm); }
int ring_algorithm(any_communicator comm) { return schedules::ring_algorithm(comm); }
std::string const advice =
    "; MPI_Finalize will wait for it: end the job with MPI_Abort, as mpi::run does with "
    "mpi::settings::abort_after_deadline";

// What ranks do over any engine; the other one is of those who go on where some leave.
using rank_body = std::function<std::vector<double>(any_communicator comm, any_communicator fewer)>;

// body(comm, fewer) returns numbers, which are the same, to the bit, over this engine and over threads.
void same_as_over_threads(rank_body const& body) {
    auto const on = [&](auto& engine) {
        auto fewer = engine.split(engine.rank() < std::max(1, engine.size() - 1) ? 0 : 1, 0);
        return body(engine, fewer);
    };
    auto const mine = on(*world);
    CHECK((world->size() == 1 || mine.back() > 0));
    world->gather(0, {std::as_bytes(std::span(mine))});
    if (world->rank() != 0) return;
    std::vector<int> same(static_cast<std::size_t>(world->size()));
    threads::run(world->size(), [&](threads::member& comm) {
        auto const theirs = on(comm);
        auto const received = world->from(comm.rank()).bytes;
        same[static_cast<std::size_t>(comm.rank())] =
            received.size() == theirs.size() * 8 && std::memcmp(received.data(), theirs.data(), received.size()) == 0;
    });
    CHECK(same == std::vector<int>(same.size(), 1));
}

// An ensemble's state, a number for each byte, and how many bytes a rank sent and received.
std::vector<double> grown(any_communicator comm) {
    dataset<float> data{"drawn", {}, {}};
    data.rows.resize(30, 2);
    for (std::ptrdiff_t j = 0; j < 30; ++j) {
        for (std::ptrdiff_t i = 0; i < 2; ++i) data.rows.insert(j, i) = float(key{7}.uniform(std::uint64_t(2 * j + i)));
        data.labels.push_back(data.rows.coeff(j, 0) * data.rows.coeff(j, 1));
    }
    metered wire(comm);
    auto ensemble = adanet{.width = 5, .steps = 20, .rate = 0.03}.start(data, squared_output<float>(data), wire, 1);
    for (int round = 0; round < 3; ++round) ensemble.round();
    std::vector<double> all;
    for (auto const b : ensemble.save()) all.push_back(std::to_integer<int>(b));
    all.push_back(double(wire.bytes_sent() + wire.bytes_broadcast()));
    all.push_back(double(wire.bytes_gathered() + wire.bytes_received()));
    return all;
}

// What a rank gets of two layers in some steps, of which one fails, and how many bytes it sent.
template <class How>
std::vector<double> reduced(any_communicator comm, How const& how) {
    metered wire(comm);
    std::vector<double> all;
    auto reduce = reducer_of<double>(how, wire, {{"first", 70}, {"second", 9}}, {.seed = 0});
    for (int k = 0; k < 12; ++k) {
        std::vector<double> first(70), second(9);
        auto const draw = key{3}.child(std::uint64_t(comm.rank())).child(std::uint64_t(k));
        for (std::size_t i = 0; i < 70; ++i) first[i] = draw.uniform(i) - .5;
        for (std::size_t i = 0; i < 9; ++i) second[i] = draw.uniform(100 + i) - .5;
        if (k == 5 && comm.rank() == comm.size() - 1) first[3] = NAN;
        try {
            reduce.start(1, second);
            reduce.start(0, first);
            reduce.finish();
        } catch (non_finite_error const& e) {
            first.assign(70, double(1000 + e.rank));
        }
        all.insert(all.end(), first.begin(), first.end());
        all.insert(all.end(), second.begin(), second.end());
    }
    all.push_back(double(wire.bytes_sent()));
    return all;
}

// The same of more layers than can be on their way at once, whose small ones share messages where share_below is not 0,
// and of all ranks but the last, which go on from what all have saved.
template <class How>
std::vector<double> reduced_and_restored(any_communicator comm, any_communicator fewer, How const& how,
                                         std::size_t share_below) {
    std::vector<layer> layers;
    for (std::size_t l = 0; l < 20; ++l) layers.push_back({"layer " + std::to_string(l), 11 + 7 * l});
    std::vector<double> all;
    std::vector<std::vector<std::byte>> states;
    reducer_options const options{
        .seed = 0, .dense_below = 20, .share_below = share_below, .steps_vary = true, .verify_every = 2};
    auto const steps = [&](any_communicator& over, int first) {
        auto reduce = reducer_of<double>(how, over, layers, options);
        if (first > 0) reduce.restore(states);
        for (int k = first; k < first + 4; ++k) {
            std::vector<std::vector<double>> g;
            for (auto const& l : layers) {
                auto const draw = key{4}.child(std::uint64_t(over.rank())).child(std::uint64_t(k)).child(l.size);
                auto& x = g.emplace_back(l.size);
                for (std::size_t i = 0; i < x.size(); ++i) x[i] = draw.uniform(i) - .5;
            }
            for (std::size_t l = g.size(); l-- > 0;) reduce.start(l, g[l], {.dense = k % 4 == 2});
            reduce.finish();
            for (auto const& x : g) all.insert(all.end(), x.begin(), x.end());
        }
        all.push_back(double(reduce.statistics().bytes_sent));
        auto const mine = reduce.save();
        over.all_gather({mine});
        states.clear();
        for (int r = 0; r < over.size(); ++r) {
            auto const theirs = over.from(r).bytes;
            states.emplace_back(theirs.begin(), theirs.end());
        }
    };
    steps(comm, 0);
    if (comm.rank() < std::max(1, comm.size() - 1)) steps(fewer, 4);
    all.push_back(1);
    return all;
}

// Of this process: MPI's own functions are called as PMPI_.
std::atomic<int> communicators = 0;

// MiB of this process.
long resident() {
    long mapped = 0, pages = 0;
    std::ifstream("/proc/self/statm") >> mapped >> pages;
    return pages * sysconf(_SC_PAGESIZE) / 1048576;
}

}  // namespace

extern "C" {
int MPI_Comm_dup(MPI_Comm of, MPI_Comm* made) {
    ++communicators;
    return PMPI_Comm_dup(of, made);
}
int MPI_Comm_split(MPI_Comm of, int color, int key, MPI_Comm* made) {
    ++communicators;
    return PMPI_Comm_split(of, color, key, made);
}
int MPI_Comm_free(MPI_Comm* all) {
    --communicators;
    return PMPI_Comm_free(all);
}
}

TEST_CASE("ranks gather, exchange in pairs and in lanes by any schedule, and nothing may come between") {
    any_communicator any(*world);
    CHECK(schedules::all(any) == 0);
    CHECK(schedules::refuses_ranks_that_do_not_exist(any) == 0);
    CHECK(schedules::in_flight_together(any, 20, 100000) == 0);
    CHECK(schedules::refuses_what_comes_between(any) == 0);
    world->start_all_gather({});
    double x = 1;
    CHECK_THROWS_AS(world->all_reduce(std::span(&x, 1)), argument_error);
    world->finish();
}

TEST_CASE("what is started mixes neither with what is handed over in pairs nor with other collective calls") {
    int const n = world->size(), me = world->rank(), next = (me + 1) % n, last = (me + n - 1) % n;
    for (int round = 0; round < 20; ++round) {
        auto const pair = test_message(me, 2 * round, 3), started = test_message(me, 2 * round + 1, 5);
        world->exchange(next, pair.as_payload(), no_rank);
        world->start_all_gather(started.as_payload());
        world->finish();
        for (int r = 0; r < n; ++r) CHECK_FALSE(test_message(r, 2 * round + 1, 5).wrong(world->from(r)));
        world->gather(round % n, pair.as_payload());  // who is not its root goes on, and starts the next
        for (int r = 0; r < n && me == round % n; ++r) CHECK_FALSE(test_message(r, 2 * round, 3).wrong(world->from(r)));
        CHECK_FALSE(test_message(last, 2 * round, 3).wrong(world->exchange(no_rank, {}, last)));
    }
}

TEST_CASE("a collective runs on a thread of its own where MPI allows it") {
    int const n = world->size(), me = world->rank();
    if (!world->may_change_threads()) {
        MESSAGE("skipped: MPI serves one thread only");
        return;
    }
    host on;
    messages::full_vector<double, host> mine;
    detail::transport_for<in_background<ring>, messages::full_vector<double, host>> by({}, 40, position_code::smallest);
    by.start(*world);
    std::vector<double> x(40), mean(40);
    auto const blank = [](auto& there, int, auto& m) { return identity{}.blank(there, 40, key{}, m), identity{}; };
    for (int round = 0; round < 5; ++round) {
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = double(me + 1) * double(i);
        identity{}(on, std::span<double const>(x), key{}, mine);
        by.send(on, *world, round_context{}, mine, detail::failure{});
        by.receive(on, *world, round_context{}, mine, detail::failure{}, blank, memory<>{}, std::span(mean));
        for (std::size_t i = 0; i < x.size(); ++i)
            CHECK(mean[i] == doctest::Approx(double(n + 1) / 2 * double(i)).epsilon(1e-15));
    }
}

TEST_CASE("what MPI cannot carry at a time is cut, and comes as one") {
    for (std::size_t const longest : {1u, 7u, 40u}) {
        CAPTURE(longest);
        mpi::member member(MPI_COMM_WORLD, {.longest = longest});
        any_communicator comm(member);
        CHECK(collectives(comm) == 0);
        CHECK(schedules::started_and_finished(comm) == 0);
        CHECK(schedules::in_flight_together(comm, 3, 100) == 0);
        CHECK(schedules::first_in_first_out(comm, 5) == 0);
        CHECK(schedules::ring_all_reduce(comm, 11) == 0);
    }
    for (std::size_t const bad : {std::size_t{0}, std::size_t{1} << 31})
        CHECK_THROWS_AS(mpi::member(MPI_COMM_WORLD, {.longest = bad}), argument_error);
    {
        mpi::member member(MPI_COMM_WORLD, {.piece = 3});
        any_communicator comm(member);
        CHECK(collectives(comm) == 0);
        CHECK(schedules::first_in_first_out(comm, 5) == 0);
        CHECK(schedules::ring_all_reduce(comm, 11) == 0);
    }
    CHECK_THROWS_AS(mpi::member(MPI_COMM_WORLD, {.piece = 0}), argument_error);
}

TEST_CASE("a message of more pieces than a tag can count arrives whole") {
    mpi::member comm(MPI_COMM_WORLD, {.piece = 1});
    int const n = comm.size(), me = comm.rank();
    std::vector<std::byte> mine(16500);
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = std::byte(i % 251 + std::size_t(me));
    auto const received = comm.exchange((me + 1) % n, {mine}, (me + n - 1) % n);
    REQUIRE(received.bytes.size() == mine.size());
    auto const from = std::size_t((me + n - 1) % n);
    bool same = true;
    for (std::size_t i = 0; i < mine.size(); ++i) same = same && received.bytes[i] == std::byte(i % 251 + from);
    CHECK(same);
}

TEST_CASE("messages of megabytes wait for their receiver, several at a time, while their sender goes on") {
    int const n = world->size(), me = world->rank(), next = (me + 1) % n, last = (me + n - 1) % n;
    for (int round = 0; round < 2; ++round) {
        for (int k = 0; k < 3; ++k) {
            std::vector<std::byte> const mine(std::size_t{1} << 20, std::byte(10 * me + k));
            world->exchange(next, {mine}, no_rank);
        }
        for (int k = 0; k < 3; ++k) {
            auto const received = world->exchange(no_rank, {}, last).bytes;
            CHECK(received.size() == std::size_t{1} << 20);
            CHECK(received.front() == std::byte(10 * last + k));
            CHECK(received.back() == std::byte(10 * last + k));
        }
    }
}

TEST_CASE("behind a receiver who is late, what others have taken makes room") {
    // Rank 1 takes rank 0's first message when rank 2, which takes each at once and confirms it, has done with the
    // rest.
    if (world->size() < 3 || world->rank() > 2) return;
    std::vector<std::byte> const large(std::size_t{1} << 20, std::byte(7));
    if (world->rank() == 0) {
        world->exchange(1, {large}, no_rank);
        auto const before = resident();
        for (int k = 0; k < 100; ++k) world->exchange(2, {large}, 2);
        CHECK(resident() < before + 30);
    } else if (world->rank() == 2) {
        for (int k = 0; k < 100; ++k) CHECK(world->exchange(0, {}, 0).bytes.size() == large.size());
        world->exchange(1, {}, no_rank);
    } else {
        world->exchange(no_rank, {}, 2);
        CHECK(world->exchange(no_rank, {}, 0).bytes.size() == large.size());
    }
}

TEST_CASE_TEMPLATE("MPI adds up, in pieces that it can carry", T, float, double) {
    int const n = world->size(), me = world->rank();
    for (std::size_t const longest : {std::size_t{1}, std::size_t{20}, std::size_t{1} << 30}) {
        mpi::member comm(MPI_COMM_WORLD, {.longest = longest});
        for (std::size_t const d : {0, 1, 5, 61}) {
            std::vector<T> x(d), sum(d);
            for (std::size_t i = 0; i < d; ++i)
                for (int r = 0; r < n; ++r) {
                    auto const v = T(int(i) * (r + 1) - 7 * r);
                    sum[i] += v;
                    if (r == me) x[i] = v;
                }
            comm.all_reduce(std::span(x));
            CHECK(x == sum);
        }
    }
    // As a collective, which reports to all what MPI would not.
    host on;
    auto exchange = make_sum<T>(engine_all_reduce{}, *world, 3);
    auto const refused = [&](std::vector<T> x, T right) {
        std::string text;
        try {
            exchange(on, *world, std::span(x), 2);
            CHECK(x == std::vector<T>(3, right));
        } catch (error const& e) {
            text = e.what();
        }
        return text;
    };
    auto const last = me == n - 1;
    CHECK(refused(std::vector<T>(3, T(1 + me)), T(n * (n + 1) / 2)).empty());
    CHECK(refused({1, last ? T(NAN) : T(2), 3}, 0) ==
          "rank " + std::to_string(n - 1) + ", round 2: the gradient is not finite at coordinate 1");
    CHECK(refused(std::vector<T>(last ? 4 : 3), 0) ==
          "rank " + std::to_string(n - 1) + " has a vector of 4 numbers, the collective is for 3");
    CHECK(refused(std::vector<T>(3, T(2)), T(2 * n)).empty());
}

TEST_CASE("it keeps to itself: traffic of the user's on the same communicator does not mix with it") {
    int const n = world->size(), me = world->rank();
    mpi::member other(MPI_COMM_WORLD);
    int sent = me, received = -1;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(&sent, 1, MPI_INT, (me + 1) % n, 0, MPI_COMM_WORLD, &request);
    other.exchange((me + 1) % n, test_message(me, 0, 1).as_payload(), no_rank);
    CHECK(ring_algorithm(*world) == 0);
    CHECK_FALSE(test_message((me + n - 1) % n, 0, 1).wrong(other.exchange(no_rank, {}, (me + n - 1) % n)));
    MPI_Recv(&received, 1, MPI_INT, (me + n - 1) % n, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(received == (me + n - 1) % n);
}

TEST_CASE("a root that does not exist is refused, and MPI's own errors have its text") {
    CHECK_THROWS_WITH_AS(world->gather(-1, {}), ("the root is rank -1 of " + std::to_string(world->size())).c_str(),
                         argument_error);
    CHECK_THROWS_AS(world->broadcast(world->size(), {}), argument_error);
    // What concerns no communicator goes to the handler of one of these, by the standard's version.
    for (MPI_Comm const all : {MPI_COMM_WORLD, MPI_COMM_SELF}) MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(MPI_ERR_COMM, text, &length);
    try {
        mpi::member const comm(MPI_COMM_NULL);
        FAIL("no exception");
    } catch (comm_error const& e) {
        CHECK(e.rank == -1);
        CHECK(std::string_view(e.what()).starts_with("MPI_Comm_dup: " + std::string(text)));
    }
    for (MPI_Comm const all : {MPI_COMM_WORLD, MPI_COMM_SELF}) MPI_Comm_set_errhandler(all, MPI_ERRORS_ARE_FATAL);
}

TEST_CASE("a rank that leaves early: all others get an error that names it, whatever and whomever they wait for") {
    int const n = world->size(), me = world->rank();
    if (n < 3) return;
    std::vector<std::byte> const large(std::size_t{1} << 20), small(1);
    struct wait {
        char const* name;
        std::function<void(mpi::member&)> call;
    };
    int const next = (me + 1) % n, last = (me + n - 1) % n;
    std::vector<wait> const waits{
        {"all_gather", [&](auto& comm) { comm.all_gather({large}); }},
        {"start_all_gather, large", [&](auto& comm) { comm.start_all_gather({large}), comm.finish(); }},
        {"start_all_gather, small", [&](auto& comm) { comm.start_all_gather({small}), comm.finish(); }},
        {"lanes",
         [&](auto& comm) {
             for (int lane = 0; lane < detail::most_in_flight; ++lane)
                 comm.start_all_gather({lane % 2 ? large : small}, lane);
             for (int lane = 0; lane < detail::most_in_flight; ++lane) comm.finish(lane);
         }},
        {"broadcast", [&](auto& comm) { comm.broadcast(0, {large}), comm.broadcast(2, {large}); }},
        {"gather", [&](auto& comm) { comm.gather(1, {large}), comm.gather(1, {large}), comm.all_gather({}); }},
        {"gather by the one that left", [&](auto& comm) { comm.gather(0, {large}), comm.gather(0, {small}); }},
        {"exchange", [&](auto& comm) { comm.exchange(next, {large}, last), comm.exchange(next, {small}, last); }},
        {"all_reduce", [&](auto& comm) {
             std::vector<double> x(100000);
             comm.all_reduce(std::span(x));
         }}};
    for (auto const deadline : {0ms, 60000ms})
        for (int const leaver : {0, n - 1})
            for (auto const& wait : waits) {
                CAPTURE(deadline.count());
                CAPTURE(leaver);
                CAPTURE(wait.name);
                int named = -7;
                std::string why, again;
                {
                    mpi::member comm(MPI_COMM_WORLD, {.deadline = deadline});
                    comm.all_gather({small});
                    auto const catch_error = [&](std::string& text) {
                        try {
                            for (;;) wait.call(comm);
                        } catch (comm_error const& e) {
                            named = e.rank;
                            text = e.what();
                        }
                    };
                    if (me != leaver) catch_error(why), catch_error(again);
                }
                if (me == leaver) continue;
                CHECK(named == leaver);
                CHECK(why == "rank " + std::to_string(leaver) +
                                 " has ended, while others wait for it: all ranks must make the same calls");
                CHECK(again == why);
            }
    CHECK(collectives(*world) == 0);
}

TEST_CASE("nothing is sent to a rank that has left: not a short message, either, that waits for no receiver") {
    int const me = world->rank();
    if (world->size() < 3) return;
    std::vector<std::byte> const small(1);
    for (bool const gathers : {true, false}) {
        CAPTURE(gathers);
        mpi::member comm(MPI_COMM_WORLD);
        std::optional<mpi::member> part(comm.duplicate());
        if (me == 0) part.reset();
        comm.all_gather({});  // the notice of rank 0 has come
        std::string why = "rank 0 has ended, while others wait for it: all ranks must make the same calls";
        if (gathers ? me != 0 : me == 1) try {
                why.clear();
                for (int calls = 0; calls < 100; ++calls)
                    gathers ? part->gather(0, {small}) : part->broadcast(1, {small});
            } catch (comm_error const& e) {
                why = e.what();
            }
        CHECK(why == "rank 0 has ended, while others wait for it: all ranks must make the same calls");
        comm.all_gather({});  // no other rank leaves before
    }
}

TEST_CASE("ranks are split by color and key, and what goes through one part mixes with no other") {
    CHECK(subgroups::all(*world) == 0);
    mpi::member comm(MPI_COMM_WORLD, {.longest = 4000, .piece = 30, .deadline = 60s});
    CHECK(subgroups::all(comm) == 0);
    auto part = comm.split(world->rank() % 2, 0);
    std::vector<double> x(1500, 1.0);
    part.all_reduce(std::span(x));
    CHECK(x == std::vector<double>(1500, part.size()));
    x.resize(part.rank() == 0 ? 3 : 4);
    if (part.size() > 1) {
        auto const names = [&](int r) { return "rank " + std::to_string(2 * r + world->rank() % 2); };
        CHECK_THROWS_WITH_AS(part.all_reduce(std::span(x)),
                             (names(1) + " adds up 4 numbers, " + names(0) + " 3").c_str(), shape_error);
    }
}

TEST_CASE("a rank that leaves a part is named by its number in what it is a part of, whatever the others wait for") {
    int const n = world->size(), me = world->rank();
    if (n < 3) return;
    std::vector<std::byte> const large(std::size_t{1} << 20);
    using call = std::function<void(mpi::member&)>;
    std::vector<call> const waits{[&](auto& part) { part.all_gather({large}); },
                                  [&](auto& part) {
                                      for (int lane = 0; lane < 4; ++lane) part.start_all_gather({large}, lane);
                                      for (int lane = 0; lane < 4; ++lane) part.finish(lane);
                                  },
                                  [&](auto& part) {
                                      for (int root = 0; root < n; ++root) part.broadcast(root, {large});
                                  },
                                  [&](auto& part) {
                                      for (int r = 0; r < n; ++r) part.exchange(r, {large}, no_rank);
                                      for (int r = 0; r < n; ++r) part.exchange(no_rank, {}, r);
                                  },
                                  [&](auto& part) {
                                      std::vector<float> x(1000);
                                      part.all_reduce(std::span(x));
                                  }};
    for (auto const deadline : {0ms, 60000ms})
        for (int const leaver : {0, n - 1})
            for (bool const throws : {false, true})
                for (std::size_t w = 0; w < waits.size(); ++w) {
                    CAPTURE(deadline.count());
                    CAPTURE(leaver);
                    CAPTURE(throws);
                    CAPTURE(w);
                    mpi::member comm(MPI_COMM_WORLD, {.deadline = deadline});
                    auto twin = comm.duplicate();
                    int named = -7;
                    std::string why;
                    try {
                        auto outer = comm.duplicate();
                        auto part = outer.split(3, -me);  // in another order
                        outer.start_all_gather({large}, 1);
                        CHECK(ring_algorithm(part) == 0);
                        comm.all_gather({});  // all are through with that
                        if (me == leaver && throws) {
                            if (w == 1) part.start_all_gather({large}, 0);
                            throw file_error("data", 3, 1, "broken line");
                        }
                        while (me != leaver) waits[w](part);
                    } catch (comm_error const& e) {
                        named = e.rank;
                        why = e.what();
                    } catch (file_error const&) {
                        named = me;
                    }
                    CHECK(named == (me == leaver && !throws ? -7 : leaver));
                    if (me != leaver)
                        CHECK(why == "rank " + std::to_string(leaver) +
                                         " has ended, while others wait for it: all ranks must make the same calls");
                    CHECK(ring_algorithm(twin) + ring_algorithm(comm) == 0);  // these go on
                }
    CHECK(collectives(*world) == 0);
}

TEST_CASE("a rank that returns early with a duplicate waits for nobody there, and the others get an error anywhere") {
    int const n = world->size(), me = world->rank();
    if (n < 3) return;
    std::vector<std::byte> const large(std::size_t{1} << 20, std::byte(me));
    using call = std::function<void(mpi::member & all, mpi::member & part)>;
    struct wait {
        char const* name;
        call before, then;
    };
    call const nothing = [](auto&, auto&) {};
    call const in_flight = [&](auto&, auto& part) { part.start_all_gather({large}, 2); };
    call const only_there = [&](auto&, auto& part) {
        if (me != 1) return;
        for (int r = 0; r < n; ++r) part.exchange(r, {large}, no_rank);
        for (int lane = 0; lane < 3; ++lane) part.start_all_gather({large}, lane);
    };
    call const gather = [](auto& all, auto&) { all.all_gather({}); };
    call const meet_there = [](auto&, auto& part) { part.all_gather({}); };
    int finished = 0;
    call const finish = [&](auto&, auto& part) {
        part.finish(2);
        finished += part.from(1).bytes.size() == large.size() && part.from(1).bytes.back() == std::byte(1);
        part.all_gather({});
    };
    for (auto const& wait :
         {wait{"nothing sent, in the world", nothing, gather},
          wait{"nothing sent, in the duplicate", nothing, meet_there},
          wait{"a lane in flight, in the world", in_flight, gather}, wait{"a lane in flight, in it", in_flight, finish},
          wait{"only its own lanes, in the world", only_there, gather},
          wait{"only its own lanes, in the duplicate", only_there, [&](auto&, auto& part) {
                   for (int k = 0; k < 3; ++k) part.all_gather({});
                   part.all_gather({});
               }}})
        for (std::size_t const piece : {detail::longest_piece, std::size_t{1} << 30}) {
            CAPTURE(wait.name);
            CAPTURE(piece);
            int argc = 0, from = -7;
            char** argv = nullptr;
            std::string why;
            auto const body = [&](mpi::member& comm) {
                auto part = comm.duplicate();
                wait.before(comm, part);
                if (me == 1) return;
                try {
                    wait.then(comm, part);
                } catch (comm_error const& e) {
                    from = e.rank;
                    why = e.what();
                }
            };
            mpi::run(argc, argv, body, {.piece = piece});
            CHECK(from == (me == 1 ? -7 : 1));
            CHECK(why ==
                  (me == 1 ? "" : "rank 1 has ended, while others wait for it: all ranks must make the same calls"));
        }
    CHECK(finished == (me == 1 ? 0 : 2));  // what rank 1 had started came
    CHECK(collectives(*world) == 0);
}

TEST_CASE("parts are let go of in another order on each rank, with long messages that nobody takes") {
    int const n = world->size(), me = world->rank();
    std::vector<std::byte> const large(std::size_t{1} << 20, std::byte(me));
    for (bool const gather : {false, true}) {
        mpi::member comm(MPI_COMM_WORLD, {.piece = std::size_t{1} << 30});
        std::vector<std::unique_ptr<mpi::member>> parts;
        for (int k = 0; k < 3; ++k)
            parts.push_back(std::make_unique<mpi::member>(comm.split(k == 2 ? me % 2 : 0, k == 0 ? -me : me)));
        for (auto& part : parts) {
            part->start_all_gather({large}, 1);
            part->start_all_gather({large}, 0);
        }
        for (int k = 0; k < 3; ++k) {
            parts[std::size_t(me + k) % 3].reset();
            if (gather) CHECK(collectives(comm) == 0);
        }
        for (int r = 0; r < n; ++r) comm.exchange(r, {large}, no_rank);  // to itself, too
    }
    CHECK(collectives(*world) == 0);
}

TEST_CASE("reducers are destroyed in another order on each rank") {
    int const me = world->rank();
    std::vector<std::vector<double>> ends;
    for (bool const other_way : {false, true}) {
        auto const make = [] { return reducer_of<double>(error_feedback{top_k{0.1}}, *world, {{"layer", 300}}); };
        std::unique_ptr<decltype(make())> all[2];
        for (auto& one : all) one.reset(new decltype(make())(make()));
        std::vector<double> x(300);
        for (auto& one : all) {
            for (std::size_t i = 0; i < x.size(); ++i) x[i] += double(me) + double(i);
            one->start(0, x);
            one->finish();
        }
        ends.push_back(x);
        int const first = other_way && me % 2 == 0 ? 1 : 0;
        all[first].reset();
        CHECK(collectives(*world) == 0);
        all[1 - first].reset();
    }
    CHECK(ends[0] == ends[1]);
    CHECK(ends[0].back() != 0);
}

TEST_CASE(
    "communicators of parts that all ranks have let go of are freed while the world goes on, and all at its end") {
    int const before = communicators;
    {
        mpi::member comm(MPI_COMM_WORLD);
        int const of_world = communicators - before;
        int most = 0, of_part = 0;
        for (int k = 0; k < 100; ++k) {
            auto const part = comm.duplicate();
            if (k == 0) of_part = communicators - before - of_world;
            most = std::max(most, communicators - before - of_world);
        }
        CHECK(of_part >= 1);
        CHECK(most < 50 * of_part);
        // Those that one rank still has stay.
        std::vector<mpi::member> some;
        for (int k = 0; k < 3; ++k) some.push_back(comm.duplicate());
        if (world->rank() == 0) some.clear();
        CHECK(collectives(comm) == 0);
        auto const last = comm.duplicate();
        CHECK(communicators - before - of_world >= (world->size() > 1 ? 4 : 1) * of_part);
        CHECK(collectives(comm) == 0);  // none has let go of the others by then
    }
    CHECK(communicators == before);
}

TEST_CASE("a part is moved, and lets go of what it was; it outlives what it comes from") {
    int const n = world->size(), me = world->rank();
    int const before = communicators;
    std::vector<std::byte> const large(std::size_t{1} << 20, std::byte(me));
    {
        std::optional<mpi::member> comm(std::in_place, MPI_COMM_WORLD);
        auto part = comm->split(0, -me);
        part.start_all_gather({large}, 3);
        mpi::member moved = std::move(part);
        moved.finish(3);
        for (int r = 0; r < n; ++r) CHECK(moved.from(r).bytes.back() == std::byte(n - 1 - r));
        part = comm->duplicate();
        CHECK(part.rank() == me);
        CHECK(collectives(part) == 0);
        auto other = std::move(*comm);
        if (me == 0) part = std::move(moved);  // here rank 0 leaves the duplicate
        if (me != 0)
            CHECK_THROWS_WITH_AS(part.all_gather({}),
                                 "rank 0 has ended, while others wait for it: all ranks must make the same calls",
                                 comm_error);
        auto& reversed = me == 0 ? part : moved;
        CHECK(reversed.rank() == n - 1 - me);
        CHECK(collectives(reversed) == 0);
        CHECK(collectives(other) == 0);
        other = mpi::member(MPI_COMM_WORLD);  // the parts outlive it
        comm.reset();
        CHECK(collectives(other) == 0);
        CHECK(collectives(reversed) == 0);
        auto nested = reversed.duplicate();
        CHECK(ring_algorithm(nested) == 0);
    }
    CHECK(communicators == before);
}

TEST_CASE("what gave up at its deadline is not waited for, and where that is the root no part is") {
    if (world->size() != 3) return;
    {
        mpi::member comm(MPI_COMM_WORLD, {.deadline = 200ms});
        auto const part = comm.duplicate();
        if (world->rank() == 1) MPI_Barrier(MPI_COMM_WORLD);  // to which the others come without comm and part
        auto const gather = [&] {
            for (;;) comm.all_gather({});  // rank 1 finds the first messages of the others
        };
        CHECK_THROWS_WITH_AS(gather(), ("rank 1 did not come within 200 ms" + advice).c_str(), comm_error);
    }
    if (world->rank() != 1) MPI_Barrier(MPI_COMM_WORLD);
    // Rank 1 never lets go of this part.
    mpi::member comm(MPI_COMM_WORLD, {.deadline = 300ms});
    auto other = comm.duplicate();
    if (auto part = comm.duplicate(); world->rank() == 1)
        static_cast<void>(new mpi::member(std::move(part)));
    else
        CHECK_THROWS_WITH_AS(part.all_gather({}), ("rank 1 did not come within 300 ms" + advice).c_str(), comm_error);
    MPI_Barrier(MPI_COMM_WORLD);
    other.all_gather({});
    comm.all_gather({});
}

TEST_CASE("an exception that passes a part does not wait for those who are elsewhere") {
    int const me = world->rank();
    bool passed = false;
    try {
        auto part = world->duplicate();
        if (me == 0) throw file_error("data", 3, 1, "broken line");
        world->all_gather({});  // here they wait for rank 0, and only then leave the part
        CHECK_THROWS_WITH_AS(part.all_gather({}),
                             "rank 0 has ended, while others wait for it: all ranks must make the same calls",
                             comm_error);
    } catch (file_error const&) {
        passed = true;
        world->all_gather({});
    }
    CHECK(passed == (me == 0));
    CHECK(collectives(*world) == 0);
}

TEST_CASE("at the deadline the errors of all that wait name the rank that does not come, and so does its own later") {
    int const n = world->size(), me = world->rank();
    if (n != 3) return;
    CHECK_THROWS_AS(mpi::member(MPI_COMM_WORLD, {.deadline = -1ms}), argument_error);
    std::vector<std::byte> const large(std::size_t{1} << 20);
    using call = std::function<void(mpi::member&)>;
    struct wait {
        char const *name, *why;
        call what;
    };
    std::vector<wait> const waits{
        {"all_gather", " did not come", [&](auto& comm) { comm.all_gather({large}); }},
        {"start_all_gather", " did not come", [&](auto& comm) { comm.start_all_gather({}), comm.finish(); }},
        {"lanes", " did not come",
         [&](auto& comm) {
             for (int lane = 0; lane < detail::most_in_flight; ++lane) comm.start_all_gather({large}, lane);
             for (int lane = 0; lane < detail::most_in_flight; ++lane) comm.finish(lane);
         }},
        {"gather", " did not come", [&](auto& comm) { comm.gather(0, {large}), comm.gather(2, {large}); }},
        {"broadcast", " sent nothing", [&](auto& comm) { comm.broadcast(1, {large}); }},
        {"exchange", " sent nothing", [&](auto& comm) { comm.exchange(me == 1 ? 0 : 1, {large}, me == 1 ? 0 : 1); }},
        {"all_reduce", " did not come", [&](auto& comm) {
             std::vector<double> x(100000);
             comm.all_reduce(std::span(x));
         }}};
    for (auto const& wait : waits) {
        CAPTURE(wait.name);
        int named = -7;
        std::string why;
        mpi::member comm(MPI_COMM_WORLD, {.deadline = 200ms});
        any_communicator any(comm);
        CHECK(schedules::all(any) == 0);  // a deadline that is met changes nothing
        if (me == 1) std::this_thread::sleep_for(400ms);
        try {
            for (;;) wait.what(comm);
        } catch (comm_error const& e) {
            named = e.rank;
            why = e.what();
        }
        CHECK(named == 1);
        CHECK(why == std::string("rank 1") + wait.why + " within 200 ms" + advice);
        CHECK_THROWS_WITH_AS(comm.all_gather({}), why.c_str(), comm_error);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

TEST_CASE("who does not take a message is named at the deadline") {
    if (world->size() != 3) return;
    std::vector<std::byte> const large(std::size_t{1} << 22);
    mpi::member comm(MPI_COMM_WORLD, {.deadline = 200ms});
    std::string why;
    try {
        comm.start_all_gather({large});
        if (world->rank() == 2) std::this_thread::sleep_for(500ms);
        comm.finish();
        for (;;) comm.all_gather({});
    } catch (comm_error const& e) {
        why = e.what();
    }
    CHECK((why == "rank 2 did not take a message within 200 ms" + advice ||
           why == "rank 2 did not send all of its message within 200 ms" + advice));
    MPI_Barrier(MPI_COMM_WORLD);
}

TEST_CASE("ranks that add up other counts of numbers all throw, and can go on") {
    int const n = world->size(), me = world->rank();
    for (auto const deadline : {0ms, 60000ms}) {
        mpi::member comm(MPI_COMM_WORLD, {.deadline = deadline});
        std::vector<float> x(me == n - 1 ? 4 : 3, 1.0f);
        if (n > 1)
            CHECK_THROWS_WITH_AS(comm.all_reduce(std::span(x)),
                                 ("rank " + std::to_string(n - 1) + " adds up 4 numbers, rank 0 3").c_str(),
                                 shape_error);
        x.resize(3);
        comm.all_reduce(std::span(x));
        CHECK(x == std::vector<float>(3, float(n)));
    }
}

TEST_CASE("a run is the same as over threads, bit for bit and byte for byte") {
    same_as_over_threads([](any_communicator comm, any_communicator) { return end_of_a_run(comm, diana{rand_k{0.2} | natural{}}); });
    same_as_over_threads([](any_communicator comm, any_communicator) { return end_of_a_run(comm, ef_sgd{top_k{0.1}}); });
}

TEST_CASE("a reducer's estimates are the same as over threads, and so are its bytes") {
    same_as_over_threads([](any_communicator comm, any_communicator) { return reduced(comm, error_feedback{top_k{0.1}, 0.9}); });
    same_as_over_threads([](any_communicator comm, any_communicator) { return reduced(comm, shifted{rand_k{0.2} | natural{}}); });
    same_as_over_threads([](any_communicator comm, any_communicator) { return reduced(comm, error_feedback{top_k{0.1}, 1, ring{}}); });
    for (std::size_t const share_below : {std::size_t{0}, std::size_t{60}, std::size_t{4096}}) {
        auto const how = error_feedback{top_k{0.1}};
        same_as_over_threads([&](any_communicator comm, any_communicator fewer) {
            return reduced_and_restored(comm, fewer, how, share_below);
        });
    }
}

// What a party has after some rounds of FedBCD, and how many bytes it sent.
template <class M>
std::vector<double> block_of(any_communicator comm, M const& method) {
    metered wire(comm);
    dataset<double> data{"drawn", {}, {}};
    data.rows.resize(40, 3);
    for (std::ptrdiff_t i = 0; i < 40; ++i)
        for (std::ptrdiff_t j = 0; j < 3; ++j)
            data.rows.insert(i, j) = key{std::uint64_t(comm.rank())}.uniform(std::uint64_t(3 * i + j)) - .5;
    for (int i = 0; comm.rank() == 0 && i < 40; ++i) data.labels.push_back(i % 3);
    linear_party<squared_loss, double> const party(data, .1);
    std::vector<double> x(3);
    auto run = method.start(problem{}, party, wire, std::span(x), 7);
    for (int k = 0; k < 12; ++k) run.round();
    x.push_back(run.look().value());
    x.push_back(double(wire.bytes_sent() + wire.bytes_broadcast() + wire.bytes_received()));
    return x;
}

TEST_CASE("FedBCD is the same as over threads, and so are its bytes") {
    auto const same = [](auto const& method) {
        same_as_over_threads([&](any_communicator comm, any_communicator) { return block_of(comm, method); });
    };
    same(fed_bcd<>{.local_steps = 3, .step = .2});
    same(fed_bcd<party_order::parallel, ef21_shift<top_k<>>>{.local_steps = 3, .step = .1, .send = {top_k<>{8}}});
    same(fed_bcd<party_order::parallel, plain<identity, served<identity>>>{.step = .2, .batch = 10});
    same(fed_bcd<party_order::sequential>{.local_steps = 3, .step = .2});
}

TEST_CASE("runs among neighbours are the same as over threads, and so are their bytes") {
    using networks::end_among_neighbours;
    same_as_over_threads([](any_communicator comm, any_communicator) { return end_among_neighbours(comm, gadmm{1}); });
    same_as_over_threads([](any_communicator comm, any_communicator) { return end_among_neighbours(comm, d_gadmm{1, 3, chain_by::greedy}); });
    same_as_over_threads([](any_communicator comm, any_communicator) { return end_among_neighbours(comm, q_gadmm{1, 4}); });
    same_as_over_threads([](any_communicator comm, any_communicator) {
        return end_among_neighbours(comm, choco<top_k<>>{.compressor = {2}, .step = .1, .gamma = .3});
    });
    same_as_over_threads([](any_communicator comm, any_communicator) { return end_among_neighbours(comm, pair_gossip{.step = .1}); });
}

namespace {

struct own_bowl {  // sum_i (1 + i) sqrt(1 + (x_i - c)^2)
    double c;
    std::size_t dimension() const { return 9; }
    double root(double x) const { return std::sqrt(1 + (x - c) * (x - c)); }
    double value(std::span<double const> x) const {
        double sum = 0;
        for (std::size_t i = 0; i < 9; ++i) sum += double(1 + i) * root(x[i]);
        return sum;
    }
    void gradient(std::span<double const> x, std::span<double> g) const {
        for (std::size_t i = 0; i < 9; ++i) g[i] = double(1 + i) * (x[i] - c) / root(x[i]);
    }
    double bend(double x, std::size_t i) const { return double(1 + i) / (root(x) * root(x) * root(x)); }
    void hessian_times(std::span<double const> x, std::span<double const> v, std::span<double> out) const {
        for (std::size_t i = 0; i < 9; ++i) out[i] = bend(x[i], i) * v[i];
    }
    void hessian(std::span<double const> x, Eigen::MatrixXd& h) const {
        h.setZero(9, 9);
        for (std::size_t i = 0; i < 9; ++i) h(Eigen::Index(i), Eigen::Index(i)) = bend(x[i], i);
    }
};

}  // namespace

TEST_CASE("second-order loops are the same as over threads, and so are their bytes") {
    same_as_over_threads([](any_communicator comm, any_communicator) {
        std::vector<double> all;
        auto const run = [&](auto const& method) {
            metered wire(comm);
            own_bowl const f{double(comm.rank())};
            std::vector<double> x(9, .5);
            auto loop = method.template start<double>(problem{}, f, wire, std::span<double>(x), 1);
            for (int k = 0; k < 6; ++k) loop.round();
            all.insert(all.end(), x.begin(), x.end());
            all.push_back(double(wire.bytes_sent() + wire.bytes_broadcast()));
        };
        for (auto const how : {curvature_transport::ship_y, curvature_transport::ship_s_and_y,
                               curvature_transport::ship_m, curvature_transport::gram})
            run(ds_lsr1<>{.memory = 4, .curvature = how});
        run(ds_lsr1<ring>{.memory = 4, .curvature = curvature_transport::ship_m});
        run(fednl<top_k<>>{.compressor = {7}});
        return all;
    });
}

TEST_CASE("an ensemble is the same as over threads, and so are its bytes") {
    same_as_over_threads([](any_communicator comm, any_communicator) { return grown(comm); });
}

TEST_CASE("a run within a running MPI leaves it running") {
    int argc = 0;
    char** argv = nullptr;
    int called = 0;
    mpi::run(argc, argv, [&](mpi::member& comm) { called += comm.size(); });
    CHECK(called == world->size());
    CHECK(collectives(*world) == 0);
}

TEST_CASE(
    "a reducer over nodes of MPI's ranks has the flat mean, where sums are exact, and a mistake is known to all") {
    int const n = world->size(), me = world->rank(), per_node = n % 2 == 0 ? n / 2 : 1;
    auto inside = world->split(me / per_node, 0);
    auto across = world->split(me % per_node, 0);
    hierarchy nodes{inside, across};
    std::vector<layer> const layers{{"a", 50}, {"b", 3}};
    reducer in_nodes(plain{}, nodes, layers);
    reducer flat(plain{}, *world, layers);
    for (int k = 0; k < 4; ++k) {
        std::vector<std::vector<float>> g{std::vector<float>(50), std::vector<float>(3)};
        for (auto& x : g)
            for (std::size_t i = 0; i < x.size(); ++i) x[i] = float(8 * 3 * (int(i) - 10 * me + k));
        auto h = g;
        if (k == 2 && me == n - 1) g[0][7] = std::numeric_limits<float>::infinity();
        for (std::size_t l = 0; l < 2; ++l) in_nodes.start(l, g[l]), flat.start(l, h[l]);
        flat.finish();
        if (k != 2) {
            in_nodes.finish();
            CHECK(g == h);
            continue;
        }
        std::string text;
        try {
            in_nodes.finish();
        } catch (non_finite_error const& e) {
            text = e.what();
        }
        CHECK(text ==
              "rank " + std::to_string(n - 1) + ", round 2: the gradient is not finite at coordinate 7 of layer a");
    }
    CHECK(in_nodes.steps() == 3);
}

// A program that starts and ends MPI itself; some communicators and a reducer are destroyed after the end.
int run_under_own_mpi(int argc, char** argv, bool serves_threads) {
    std::string refused;
    try {
        mpi::member(MPI_COMM_WORLD);
    } catch (argument_error const& e) {
        refused = e.what();
    }
    int given = 0;
    serves_threads ? MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given) : MPI_Init(&argc, &argv);
    MPI_Query_thread(&given);
    std::optional<mpi::member> later(MPI_COMM_WORLD), part(later->duplicate());
    reducer reduce(error_feedback{top_k{1}}, *later, std::size_t{3});
    std::vector<float> g{1, 2, 3};
    reduce(g);
    std::string one_thread;
    try {
        reducer(plain{identity{}, in_background{ring{}}}, *part, std::size_t{3});
    } catch (argument_error const& e) {
        one_thread = e.what();
    }
    MPI_Finalize();
    bool const names_it = one_thread.find("MPI_THREAD_MULTIPLE") != std::string::npos;
    bool const right = refused.starts_with("MPI does not run: ") && g == std::vector<float>{0, 0, 3} &&
                       names_it == (given < MPI_THREAD_SERIALIZED);
    std::printf("%s\n", right ? "right until the end" : (refused + one_thread).c_str());
    std::fflush(stdout);
    return right ? 0 : 1;
}

int main(int argc, char** argv) {
    int failed = 0;
    for (int i = 1; i < argc; ++i) {
        std::string_view const flag = argv[i];
        if (flag.starts_with("--own=")) return run_under_own_mpi(argc, argv, flag.ends_with('1'));
        if (!flag.starts_with("--survive=")) continue;
        auto const body = [&](mpi::member& comm) {
            try {
                auto part = comm.duplicate();
                while (comm.rank() == std::atoi(argv[i] + 10)) std::this_thread::sleep_for(1s);
                part.all_gather({});
            } catch (comm_error const&) {
            }
        };
        mpi::run(argc, argv, body, {.deadline = 300ms, .abort_after_deadline = true});
    }
    for (int i = 1; i < argc; ++i)
        if (std::string_view(argv[i]).starts_with("--late=")) {
            auto const body = [&](mpi::member& comm) {
                while (comm.rank() == std::atoi(argv[i] + 7)) std::this_thread::sleep_for(1s);
                comm.all_gather({});
            };
            mpi::run(argc, argv, body, {.deadline = 300ms});
        }
    mpi::run(argc, argv, [&](mpi::member& comm) {
        for (int i = 1; i < argc; ++i) {
            std::string_view const flag = argv[i];
            int const rank = std::atoi(argv[i] + std::min<std::size_t>(8, flag.size()));
            if (flag.starts_with("--throw=")) {
                auto const part = comm.duplicate();  // which the exception passes
                for (;;) {
                    comm.all_gather({});
                    if (comm.rank() == rank) throw file_error("data", 3, 1, "broken line");
                }
            }
            while (flag.starts_with("--leave=")) {
                comm.all_gather({});
                if (comm.rank() == rank) return;
            }
        }
        world = &comm;
        doctest::Context context(argc, argv);
        context.setOption("no-colors", true);
        context.setOption("minimal", comm.rank() != 0);  // these report failures only
        failed = context.run();
        // Where one failed, all did.
        comm.all_gather({std::as_bytes(std::span(&failed, failed != 0 ? 1u : 0u))});
        for (int r = 0; r < comm.size(); ++r)
            if (!comm.from(r).bytes.empty()) failed = 1;
    });
    return failed;
}
