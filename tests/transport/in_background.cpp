// SPDX-License-Identifier: Apache-2.0
// `in_background` gives the bits and bytes of its collective while its rank goes on, and the same errors.
#include "laconic/transport/in_background.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"

using ranks = metered<threads::member>;

std::vector<double> numbers(int rank, int round) {
    std::vector<double> x(10);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0 / double(1 + i + std::size_t(3 * rank + round));
    return x;
}

// One rank's rounds over a transport that a recursion calls X, with messages of a compressor C.
template <class X, class C>
struct rank_state {
    using message = detail::message_of<C, double, host>;
    ranks comm;
    C compressor;
    host on;
    detail::transport_for<X, message> by;
    memory<> feedback;
    message mine;
    detail::failure own;
    round_context now;
    std::vector<double> mean = std::vector<double>(10);

    static_assert(Transport<decltype(by), ranks, message, memory<>>);

    rank_state(threads::member& engine, X how, C c)
        : comm(engine), compressor(c), by(how, 10, position_code::smallest) {
        by.start(comm);
    }
    void send(std::vector<double> const& x, int round) {
        now.round = std::uint64_t(round);
        compressor(on, std::span<double const>(x), key{}, mine);
        by.send(on, comm, now, mine, own);
    }
    std::vector<double> const& receive() {
        auto const blank = [&](auto& there, int, auto& m) { return compressor.blank(there, 10, key{}, m), compressor; };
        by.receive(on, comm, now, mine, own, blank, feedback, std::span(mean));
        return mean;
    }
};

// |x - c|^2 / 2 on each rank.
struct bowl {
    double c;
    std::size_t dimension() const { return 10; }
    double value(std::span<double const>) const { return 0; }
    void gradient(std::span<double const> x, std::span<double> g) const {
        for (std::size_t i = 0; i < 10; ++i) g[i] = x[i] - c;
    }
};

// Whether 20 rounds on so many ranks are the same with the collective beside its rank, which goes on meanwhile.
template <class X, class C>
bool is_the_same(int size, X collective, C compressor, int at_once) {
    std::atomic<int> wrong = 0, ran_on = 0;
    threads::run(size,
                 [&](threads::member& engine) {
                     rank_state plain(engine, collective, compressor);
                     rank_state beside(engine, in_background{collective}, compressor);
                     for (int round = 0; round < 20; ++round) {
                         auto const x = numbers(engine.rank(), round);
                         beside.send(x, round);
                         ++ran_on;
                         beside.receive();
                         plain.send(x, round);
                         wrong += beside.mean != plain.receive();
                     }
                     wrong += beside.comm.bytes_sent() != plain.comm.bytes_sent() ||
                              (size > 1) != (beside.comm.bytes_sent() > 0);
                     wrong += beside.comm.bytes_received() != plain.comm.bytes_received();
                 },
                 {.at_once = at_once});
    return wrong == 0 && ran_on == 20 * size;
}

// A communicator that counts its rank's exchanges, and calls that come while another thread of the rank is in one.
struct watched {
    struct record {
        std::atomic<int> exchanges = 0, under_way = 0, collisions = 0;
    };
    struct call {
        record& of;
        explicit call(record& its) : of(its) { of.collisions += of.under_way++ != 0; }
        ~call() { --of.under_way; }
    };
    threads::member inner;
    record* of;

    int rank() const { return inner.rank(); }
    int size() const { return inner.size(); }
    bool may_change_threads() const { return true; }
    void all_gather(payload mine) {
        call const in(*of);
        inner.all_gather(mine);
    }
    void gather(int root, payload mine) {
        call const in(*of);
        inner.gather(root, mine);
    }
    void broadcast(int root, payload mine) {
        call const in(*of);
        inner.broadcast(root, mine);
    }
    payload from(int r) const { return inner.from(r); }
    payload exchange(int to, payload mine, int from) {
        call const in(*of);
        ++of->exchanges;
        return inner.exchange(to, mine, from);
    }
    watched split(int color, int key) { return {inner.split(color, key), of}; }
    watched duplicate() { return {inner.duplicate(), of}; }
};
static_assert(Splitting<watched> && PointToPoint<watched> && !Overlapping<watched>);

// Whether it comes to so many within a minute.
bool comes_to(std::atomic<int> const& count, int most) {
    auto const end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (count < most && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    return count >= most;
}

TEST_CASE("means are the same, bit for bit and byte for byte, of numbers in full and of terms") {
    for (int const at_once : {0, 1}) {
        for (int const size : {1, 4, 7}) {
            CAPTURE(size);
            CHECK(is_the_same(size, ring{}, identity{}, at_once));
            CHECK(is_the_same(size, recursive_doubling{}, top_k{3}, at_once));
            CHECK(is_the_same(size, ring{}, top_k{3}, at_once));
        }
    }
}

TEST_CASE("a send waits for nobody") {
    std::atomic<int> sent = 0;
    threads::run(2, [&](threads::member& engine) {
        rank_state rank(engine, in_background{ring{}}, identity{});
        if (engine.rank() == 1)
            while (sent == 0) std::this_thread::yield();
        rank.send(numbers(engine.rank(), 0), 0);
        ++sent;
        rank.receive();
    });
    CHECK(sent == 2);
}

TEST_CASE("what is wrong on one rank its receive throws on all, and the next round is whole") {
    std::vector<std::string> errors(3);
    std::atomic<int> wrong = 0;
    threads::run(3, [&](threads::member& engine) {
        rank_state rank(engine, in_background{ring{}}, identity{});
        if (engine.rank() == 1) rank.own = detail::failure::no_message("no message today").by(engine.rank(), 7);
        rank.send(numbers(engine.rank(), 0), 7);
        try {
            rank.receive();
        } catch (compression_error const& e) {
            errors[std::size_t(engine.rank())] = e.what();
        }
        rank.own = {};
        rank.by.require_consistent();
        rank.send(std::vector<double>(10, 1.0 + engine.rank()), 8);
        CHECK_THROWS_AS(rank.send(numbers(0, 0), 9), argument_error);
        wrong += rank.receive() != std::vector<double>(10, 2.0);
        CHECK_THROWS_AS(rank.receive(), argument_error);
    });
    CHECK(wrong == 0);
    for (auto const& why : errors) CHECK(why == "rank 1, round 7: no message today");
}

TEST_CASE("who goes without receiving still takes part, and a rank that fails meanwhile is named") {
    std::atomic<int> wrong = 0;
    std::vector<std::string> errors(3);
    auto const body = [&](threads::member& engine, bool fails) {
        rank_state rank(engine, in_background{ring{}}, identity{});
        if (fails && engine.rank() == 2) throw file_error("data", 3, 1, "broken line");
        rank.send(std::vector<double>(10, 2.0), 0);
        if (engine.rank() == 0 && !fails) return;
        try {
            rank.receive();
        } catch (comm_error const& e) {
            errors[std::size_t(engine.rank())] = e.what();
            return;
        }
        wrong += rank.mean != std::vector<double>(10, 2.0);
    };
    threads::run(3, [&](threads::member& comm) { body(comm, false); });
    CHECK(wrong == 0);
    CHECK_THROWS_AS(threads::run(3, [&](threads::member& comm) { body(comm, true); }), file_error);
    CHECK(std::count(errors.begin(), errors.end(), "rank 2 failed: data:3:1: broken line") >= 1);
    CHECK(errors[2].empty());
}

TEST_CASE("a feedback that would lose what the collective leaves out is refused, and communicators of one thread") {
    detail::summed_in_background<gtop_k, messages::full_vector<double, host>, double> by(in_background{gtop_k{2}}, 10,
                                                                                         position_code::smallest);
    CHECK_THROWS_AS(by.require_beside(memory<>{}, "memory"), argument_error);
    by.require_beside(memory<>(0, 1), "memory");
    CHECK(to_string(in_background{gtop_k{2}}) == "in_background(gtop_k(2))");

    auto const refuses = [&](auto& comm) {
        CHECK_THROWS_WITH_AS(
            by.start(comm),
            doctest::Contains("this communicator serves one thread only: no collective runs on another "
                              "meanwhile. MPI serves several where it is started with "
                              "MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given)"),
            argument_error);
    };
    threads::run(1, [&](threads::member& engine) {
        delayed clocked(engine, network{});
        refuses(clocked);
        any_communicator hidden(clocked);
        refuses(hidden);
        metered counted(engine);
        by.start(counted);
        CHECK(any_communicator(counted).may_change_threads());
    });
    fibers::run(1, [](fibers::member& engine) { CHECK_FALSE(any_communicator(engine).may_change_threads()); });
}

TEST_CASE("a reducer of two layers by it, and what gTop-k leaves out comes back") {
    auto const estimates = [](auto over) {
        std::vector<double> all;
        threads::run(3, [&](threads::member& engine) {
            any_communicator comm(engine);
            auto reduce = reducer_of<double>(error_feedback{top_k{2}, 1, over}, comm, {{"a", 10}, {"b", 10}});
            for (int round = 0; round < 10; ++round) {
                auto a = numbers(comm.rank(), round), b = numbers(comm.rank(), 2 * round);
                reduce.start(0, a), reduce.start(1, b);
                reduce.finish();
                if (comm.rank() == 1)
                    all.insert(all.end(), a.begin(), a.end()), all.insert(all.end(), b.begin(), b.end());
            }
        });
        return all;
    };
    CHECK(estimates(in_background{gtop_k{2}}) == estimates(gtop_k{2}));
    fibers::run(1, [](fibers::member& comm) {
        CHECK_THROWS_AS(reducer(plain{identity{}, in_background{ring{}}}, comm, 10), argument_error);
        reducer(plain{identity{}, in_background{ring{}}}, comm, 10, {.dense_below = 11});  // which never uses it
    });
}

TEST_CASE("in a reducer a layer's sum is made while the rank computes the next layer, and the last before finish()") {
    std::atomic<int> wrong = 0, past_start = 0;
    threads::run(2, [&](threads::member& engine) {
        watched::record calls;
        watched comm{engine.duplicate(), &calls};
        auto const& exchanges = calls.exchanges;
        auto reduce = reducer_of<double>(plain{identity{}, in_background{ring{}}}, comm, {{"a", 10}, {"b", 10}});
        int each = 0;  // exchanges of a layer, which is known after the first step, that sends all in finish()
        for (int round = 0; round < 3; ++round) {
            std::vector<double> a(10, 2.0 * comm.rank() + round), b(10, 4.0 * comm.rank());
            int const before = exchanges;
            if (round > 0 && comm.rank() == 1) wrong += !comes_to(past_start, 2 * round - 1);
            reduce.start(0, a);
            if (comm.rank() == 0) past_start = 2 * round - 1;
            if (round > 0) wrong += !comes_to(exchanges, before + each);
            if (round > 0 && comm.rank() == 1) wrong += !comes_to(past_start, 2 * round);
            reduce.start(1, b);
            if (comm.rank() == 0) past_start = 2 * round;
            if (round > 0) wrong += !comes_to(exchanges, before + 2 * each);
            reduce.finish();
            if (round == 0) each = (exchanges - before) / 2;
            wrong += each == 0 || exchanges != before + 2 * each;
            wrong += a != std::vector<double>(10, 1.0 + round) || b != std::vector<double>(10, 2.0);
        }
        wrong += calls.collisions;
    });
    CHECK(wrong == 0);
}

TEST_CASE("in the middle of a reducer's step: statistics, a saved state, other ranks, and an end") {
    std::atomic<int> wrong = 0;
    threads::run(3, [&](threads::member& engine) {
        any_communicator comm(engine);
        error_feedback const how{top_k{2}, 1, in_background{gtop_k{2}}};
        std::vector<layer> const layers{{"a", 10}, {"b", 10}};
        auto reduce = reducer_of<double>(how, comm, layers);
        auto same = reducer_of<double>(error_feedback{top_k{2}, 1, gtop_k{2}}, comm, layers);
        auto const step = [&](auto& one, int round, auto between) {
            auto a = numbers(comm.rank(), round), b = numbers(comm.rank(), 2 * round);
            one.start(0, a), between(), one.start(1, b), between(), one.finish();
            a.insert(a.end(), b.begin(), b.end());
            return a;
        };
        for (int round = 0; round < 4; ++round) {
            auto const expected = step(same, round, [] {});
            wrong += expected != step(reduce, round, [&] {
                         CHECK_THROWS_AS(static_cast<void>(reduce.save()), argument_error);
                         static_cast<void>(reduce.statistics());
                     });
            wrong += reduce.statistics().bytes_sent != same.statistics().bytes_sent;
        }
        auto a = numbers(comm.rank(), 1);
        reduce.start(0, a);
        reduce.rebind(comm);
        wrong += a != numbers(comm.rank(), 1);
        wrong += step(reduce, 5, [] {}) != step(same, 5, [] {});
        reduce.start(0, a);
    });
    CHECK(wrong == 0);
}

TEST_CASE("in a hierarchy no rank communicates with its node while a sum between nodes is under way") {
    std::atomic<int> wrong = 0;
    threads::run(4, [&](threads::member& engine) {
        auto const estimates = [&](auto over, watched::record& calls) {
            watched all{engine.duplicate(), &calls};
            auto inside = all.split(all.rank() / 2, 0), across = all.split(all.rank() % 2, 0);
            hierarchy both{inside, across};
            std::vector<std::size_t> const sizes(5, 10);
            reducer<plain<identity, decltype(over)>, hierarchy<watched, watched>, double> reduce({{}, over}, both,
                                                                                                 sizes);
            std::vector<std::vector<double>> x(5);
            for (int round = 0; round < 5; ++round) {
                for (std::size_t l = 0; l < 5; ++l) reduce.start(l, x[l] = numbers(all.rank(), round + int(l)));
                reduce.finish();
            }
            return x;
        };
        watched::record calls, plainly;
        wrong += estimates(in_background{ring{}}, calls) != estimates(ring{}, plainly);
        wrong += calls.collisions + (calls.exchanges == 0);
    });
    CHECK(wrong == 0);
}

TEST_CASE(
    "a descent by it: the same iterates; two halves in a wrong order, and a round that is left out for a saved state") {
    using method = recursion<identity, memory<>, gradient_step, fixed_level, mini_batch, in_background<ring>>;
    std::vector<double> ends, expected;
    threads::run(3, [&](threads::member& comm) {
        bowl const f{1.0 * comm.rank()};
        std::vector<double> x(10, 1.0), y(10, 1.0);
        descent run(method{.step = {0.1}}, f, comm, std::span(x), 1);
        descent same(recursion<identity>{.step = {0.1}}.with_over(ring{}), f, comm, std::span(y), 1);
        auto const saved = run.save();
        run.send();
        CHECK_THROWS_WITH_AS(run.send(), "a round is under way: receive() comes before the next send()",
                             argument_error);
        run.restore(saved);  // of which all ranks take the same step again
        for (int round = 0; round < 10; ++round) {
            run.send();
            run.receive();
            same.round();
        }
        if (comm.rank() == 0) ends = x, expected = y;
    });
    CHECK(ends == expected);
}

TEST_CASE("one rank alone may ask a reducer for its statistics in the middle of a step") {
    auto const with = [](auto const& collective) {
        int wrong = 0;
        fibers::run(2, [&](fibers::member& engine) {
            any_communicator comm(engine);
            auto traffic = engine.duplicate();
            auto reduce = reducer_of<double>(error_feedback{top_k{2}, 1, collective}, comm,
                                             std::vector<layer>{{"a", 10}, {"b", 10}});
            auto a = numbers(comm.rank(), 1), b = numbers(comm.rank(), 2);
            for (int step = 0; step < 2; ++step) {
                reduce.start(0, a);
                if (comm.rank() == 0) wrong += reduce.statistics().steps != static_cast<std::uint64_t>(step);
                traffic.all_gather({});
                reduce.start(1, b);
                reduce.finish();
            }
            wrong += reduce.statistics().steps != 2;
        });
        CHECK(wrong == 0);
    };
    with(ring{});
    with(gtop_k{2});
}
