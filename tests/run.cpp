// SPDX-License-Identifier: Apache-2.0
// `descend` shows every iterate to its watch, stops at the first limit that is reached, and keeps a true trace.
// Also tests run_settings.hpp.
#include "laconic/run.hpp"

#include "support/error_of.hpp"
#include "support/everything.hpp"
#include "support/toys.hpp"

using namespace toys;

std::array<double, 3> sum_of_values_and_gradients(observation<quadratic<>, double> const& at) {
    return {at.value(), at.gradient[0], at.x[0]};
}

// Three ridges of 4 numbers, and what gradient descent does with them; each rank sends 32 bytes a round.
struct descents {
    workers f = random_ridges(3, 4, 1, 2);
    common_recursion<> method = composed(gd{}, f);

    struct outcome {
        run_result end;
        std::vector<trace_point> trace;
        vec x;
        std::uint64_t bytes = 0;  // sent, as an outer counter sees it
        std::string error;
    };
    std::vector<outcome> with(auto settings, auto watch) const {
        std::vector<outcome> all(3);
        threads::run(3, [&](threads::member& inner) {
            auto& mine = all[static_cast<std::size_t>(inner.rank())];
            metered comm(inner);
            mine.x = vec(4, 1.0);
            try {
                run_settings how = settings(inner.rank());
                how.seed = how.seed.value_or(0);
                if (how.trace) how.trace = &mine.trace;
                mine.end = descend(method, f[static_cast<std::size_t>(inner.rank())], mine.x, comm, how,
                                   [&](auto const& at, auto const& loop) { return watch(inner.rank(), at, loop); });
            } catch (error const& e) {
                mine.error = e.what();
            }
            mine.bytes = comm.bytes_sent();
        });
        return all;
    }
    std::vector<outcome> with(run_settings how) const {
        return with([&](int) { return how; }, [](int, auto const&, auto const&) { return true; });
    }
    // f(x^k), from the other way to run a method.
    std::vector<double> values(std::size_t count) const {
        std::vector<double> all;
        for (auto const& at : history(method, f, vec(4, 1.0), count)) all.push_back(mean_of(f).value(at.x[0]));
        return all;
    }
};

std::vector<trace_point> a_trace;  // that one is wanted
std::vector<std::uint64_t> rounds_of(std::vector<trace_point> const& trace) {
    std::vector<std::uint64_t> all;
    for (auto const& m : trace) all.push_back(m.round);
    return all;
}

TEST_CASE("the watch sees every iterate once, and the last; false stops the run") {
    auto const f = random_ridges(3, 4, 1, 2);
    auto const expected = history(composed(gd{}, f), f, vec(4, 1.0), 8);
    auto const p = constants(f);
    for (std::uint64_t const stop_at : {100u, 5u, 0u}) {
        std::array<run_result, 3> ends{};
        std::array<std::uint64_t, 3> calls{};
        std::array<bool, 3> right{true, true, true};
        threads::run(3, [&](threads::member& comm) {
            auto const me = static_cast<std::size_t>(comm.rank());
            vec x(4, 1.0);
            ends[me] = descend(gd{}, p, f[me], x, comm, {.rounds = 8}, [&](auto const& at) {
                vec g(4);
                f[me].gradient(at.x, g);
                right[me] = right[me] && at.round == calls[me] && copied(at.x) == expected[at.round].x[me] &&
                            copied(at.gradient) == g && at.value() == f[me].value(at.x);
                ++calls[me];
                return at.round != stop_at;
            });
            right[me] = right[me] && x == expected[std::min<std::uint64_t>(stop_at, 8)].x[me];
        });
        std::uint64_t const last = std::min<std::uint64_t>(stop_at, 8);
        for (auto const& end : ends) {
            CHECK(end.rounds == last);
            CHECK(end.why == (stop_at == last ? stop_reason::watch : stop_reason::rounds));
        }
        CHECK(calls == std::array<std::uint64_t, 3>{last + 1, last + 1, last + 1});
        CHECK(right == std::array<bool, 3>{true, true, true});
    }
}

TEST_CASE("a watch that returns nothing, no rounds at all, and a look that costs one gradient") {
    struct counting {
        quadratic<> inside;
        int* gradients;
        std::size_t dimension() const { return inside.dimension(); }
        double value(std::span<double const> x) const { return inside.value(x); }
        void gradient(std::span<double const> x, std::span<double> g) const {
            ++*gradients;
            inside.gradient(x, g);
        }
    };
    int gradients = 0, calls = 0;
    auto const f = random_ridges(1, 4, 1, 2);
    threads::run(1, [&](threads::member& comm) {
        counting const mine{f[0], &gradients};
        vec x(4, 1.0);
        CHECK(descend(gd{}, constants(f), mine, x, comm, {.rounds = 6}, [&](auto const&) { ++calls; }).rounds == 6);
        CHECK(gradients == 7);
        CHECK(calls == 7);
        CHECK(descend(gd{}, constants(f), mine, x, comm, {.rounds = 0}, [&](auto const&) { ++calls; }).rounds == 0);
        CHECK(calls == 8);
        CHECK(descend(gd{}, constants(f), mine, x, comm, {.rounds = 2}).rounds == 2);
        CHECK(descend(composed(gd{}, f), f[0], x, comm, {.rounds = 3}, [](auto const&) {}).rounds == 3);
        CHECK(descend(gd{}, f[0], x, comm).rounds == 1000);  // the objective knows its constants
        CHECK(distance2(x, known_optimum(f).x) < 1e-12);
    });
}

// Only the step needs the constants of an objective.
TEST_CASE("an objective that knows no constants wants a step") {
    struct bare {
        double c;
        std::size_t dimension() const { return 2; }
        double value(std::span<double const> x) const { return (x[0] - c) * (x[0] - c) / 2 + x[1] * x[1] / 2; }
        void gradient(std::span<double const> x, std::span<double> g) const { g[0] = x[0] - c, g[1] = x[1]; }
    };
    std::array<vec, 2> x{vec{5, 5}, vec{5, 5}};
    std::array<std::string, 2> refused, half;
    threads::run(2, [&](threads::member& comm) {
        auto const me = static_cast<std::size_t>(comm.rank());
        bare const f{me == 0 ? 1. : 3.};
        CHECK(descend(ef21{top_k{1}, {.step = .5}}, f, x[me], comm, {.rounds = 200}).rounds == 200);
        vec y{1, 1};
        auto const why = [&](auto const& method) {
            return error_of<theory_error>([&] { descend(method, f, y, comm); });
        };
        refused[me] = why(ef21{top_k{1}});
        half[me] = why(gd{{.step = step_size{.5, true}}});
        CHECK(y == vec{1, 1});
    });
    for (std::size_t me = 0; me < 2; ++me) {
        CHECK(distance2(x[me], vec{2, 0}) < 1e-12);
        CHECK(refused[me] ==
              "ef21: its theorem needs the smoothness L, which is not known; give the objective smoothness() and "
              "strong_convexity(), or descend() a problem with its constants, or the method a step of your own: "
              "{.step = ...}");
        CHECK(half[me].find("gd: its theorem needs the smoothness L, which is not known") == 0);
    }
}

TEST_CASE("a fused objective is called once a round and gives the same run") {
    struct fused : quadratic<> {
        int* passes;
        fused(quadratic<> const& q, int& count) : quadratic<>(q), passes(&count) {}
        double value_and_gradient(std::span<double const> x, std::span<double> g) const {
            ++*passes;
            gradient(x, g);
            return value(x);
        }
    };
    auto const f = random_ridges(2, 5, 1, 7);
    auto const method = composed(diana{rand_k{2}}, f);
    std::array<int, 2> passes{};
    std::array<double, 2> fused_sum{}, plain_sum{};
    std::vector<vec> fused_x(2), plain_x(2);
    threads::run(2, [&](threads::member& comm) {
        auto const me = static_cast<std::size_t>(comm.rank());
        fused const mine(f[me], passes[me]);
        vec x(5, 1.0), y(5, 1.0);
        descend(method, mine, x, comm, {.rounds = 20, .seed = 0}, [&](auto const& at) { fused_sum[me] += at.value(); });
        descend(method, f[me], y, comm, {.rounds = 20, .seed = 0},
                [&](auto const& at) { plain_sum[me] += sum_of_values_and_gradients(at)[0]; });
        fused_x[me] = x;
        plain_x[me] = y;
    });
    CHECK(passes == std::array<int, 2>{21, 21});
    CHECK(fused_sum == plain_sum);
    CHECK(fused_x == plain_x);
}

TEST_CASE("x may be a vector of Eigen, an array or a span, of doubles or floats") {
    auto const f = random_ridges(2, 4, 1, 3);
    std::vector<quadratic<float>> single;
    for (auto const& q : f) single.push_back({q.h.cast<float>(), q.b.cast<float>(), float(q.c)});
    auto const p = constants(f);
    known_optimum const best(f);
    std::array<bool, 2> same{};
    std::vector<Eigen::VectorXf> far(2);
    std::vector<std::uint64_t> bytes(2), bytes_single(2);
    threads::run(2, [&](threads::member& inner) {
        auto const me = static_cast<std::size_t>(inner.rank());
        metered comm(inner), comm_single(inner);
        Eigen::VectorXd x = Eigen::VectorXd::Ones(4);
        std::array<double, 4> y{1, 1, 1, 1};
        vec z(4, 1.0);
        std::span<double> const part(z);
        descend(diana{rand_k{2}}, p, f[me], x, comm, {.rounds = 50, .seed = 0});
        descend(diana{rand_k{2}}, p, f[me], y, inner, {.rounds = 50, .seed = 0});
        descend(diana{rand_k{2}}, p, f[me], part, inner, {.rounds = 50, .seed = 0});
        same[me] = vec(x.begin(), x.end()) == z && vec(y.begin(), y.end()) == z;
        far[me] = Eigen::VectorXf::Ones(4);
        descend(diana{rand_k{2}}, p, single[me], far[me], comm_single, {.rounds = 50, .seed = 0});
        bytes[me] = comm.bytes_sent();
        bytes_single[me] = comm_single.bytes_sent();
        descend(diana{rand_k{2}}, p, single[me], far[me], inner, {.rounds = 3000, .seed = 0});
    });
    CHECK(same == std::array<bool, 2>{true, true});
    CHECK(far[0] == far[1]);
    for (Eigen::Index j = 0; j < 4; ++j) CHECK(far[0][j] == doctest::Approx(best.x[std::size_t(j)]).epsilon(1e-3));
    CHECK(bytes[0] == 16 + 50 * 2 * 8);  // the agreement, then two numbers a round
    CHECK(bytes_single[0] == 16 + 50 * 2 * 4);
}

TEST_CASE("a trace is the same on all ranks: values, and what a worker has sent and received so far") {
    descents const runs;
    auto const values = runs.values(8);
    auto const all = runs.with({.rounds = 8, .trace = &a_trace});
    for (auto const& one : all) {
        CHECK(one.end.rounds == 8);
        CHECK(one.end.why == stop_reason::rounds);
        CHECK(one.bytes == 16 + 8 * 32);  // the trace's own collectives are not counted
        REQUIRE(one.trace.size() == 9);
        for (std::size_t k = 0; k <= 8; ++k) {
            auto const &m = one.trace[k], &first = all[0].trace[k];
            CHECK(m.round == k);
            CHECK(m.value == doctest::Approx(values[k]).epsilon(1e-14));
            CHECK(m.bits_up == 8 * (16 + 32 * static_cast<double>(k)));  // the agreement, then the messages
            CHECK(m.bits_down == 2 * m.bits_up);                         // of the two others
            CHECK(m.value == first.value);
            CHECK(m.seconds == first.seconds);
            CHECK(m.seconds >= (k == 0 ? 0 : one.trace[k - 1].seconds));
        }
    }
}

TEST_CASE("bits up and down with a server: the workers' messages, and the one message that all receive") {
    auto const f = random_ridges(3, 4, 1, 2);
    auto const method = composed(gd{}, f).with_over(served<rand_k<>>{rand_k{3}, {.5, 0}});
    std::array<std::vector<trace_point>, 3> traces;
    threads::run(3, [&](threads::member& comm) {
        auto const me = static_cast<std::size_t>(comm.rank());
        vec x(4, 1.0);
        descend(method, f[me], x, comm, {.rounds = 5, .seed = 0, .trace = &traces[me]});
    });
    for (auto const& trace : traces) {
        REQUIRE(trace.size() == 6);
        for (std::size_t k = 0; k <= 5; ++k) {
            auto const rounds = static_cast<double>(k);
            CHECK(trace[k].bits_up == 8 * (16 + 32 * rounds));
            CHECK(trace[k].bits_down ==
                  doctest::Approx(8 * (2 * 16 + 24 * rounds)));  // the server receives its own, too
        }
    }
}

TEST_CASE("every limit stops all ranks in the first round that reaches it") {
    descents const runs;
    auto const values = runs.values(12);
    auto const stops = [&](run_settings how, std::uint64_t round, stop_reason why) {
        for (auto const& one : runs.with(how)) {
            CHECK(one.end.rounds == round);
            CHECK(to_string(one.end.why) == std::string(to_string(why)));
            CHECK(one.x == history(runs.method, runs.f, vec(4, 1.0), round)[round].x[0]);
            CHECK(one.error.empty());
        }
    };
    stops({.rounds = 7}, 7, stop_reason::rounds);
    stops({.rounds = 12, .bits = 8 * (16 + 32 * 3)}, 3, stop_reason::bits);
    stops({.rounds = 12, .bits = 8 * (16 + 32 * 3) + 1}, 4, stop_reason::bits);
    stops({.rounds = 12, .target = values[5] * (1 + 1e-12)}, 5, stop_reason::target);
    stops({.rounds = 12, .target = (values[5] + values[6]) / 2}, 6, stop_reason::target);
    stops({.rounds = 12, .target = 1e300}, 0, stop_reason::target);
    stops({.rounds = 12, .seconds = 0}, 0, stop_reason::time);
    stops({.rounds = 12, .seconds = 3600}, 12, stop_reason::rounds);
    stops({.rounds = 12, .bits = 1e300, .target = -1e300}, 12, stop_reason::rounds);
    // What is reached together: the target comes first, then the bits, the time, the rounds.
    stops({.rounds = 0, .bits = 0, .target = 1e300, .seconds = 0}, 0, stop_reason::target);
    stops({.rounds = 0, .bits = 0, .seconds = 0}, 0, stop_reason::bits);
    stops({.rounds = 0, .seconds = 0}, 0, stop_reason::time);
}

TEST_CASE("checks every few rounds, and after the last") {
    descents const runs;
    for (auto const& one : runs.with({.rounds = 8, .check_every = 3, .trace = &a_trace})) {
        CHECK(rounds_of(one.trace) == std::vector<std::uint64_t>{0, 3, 6, 8});
        CHECK(one.end.why == stop_reason::rounds);
    }
    for (auto const& one : runs.with({.rounds = 8, .bits = 8 * (16 + 32 * 4), .check_every = 3})) {
        CHECK(one.end.rounds == 6);  // reached after four
        CHECK(one.end.why == stop_reason::bits);
    }
    for (auto const& one : runs.with({.rounds = 8, .check_every = 0}))
        CHECK(one.error == "check_every = 0: a run cannot be checked every 0 rounds");
}

TEST_CASE("saved by a watch, gone on with later: the same run, bit for bit") {
    descents const runs;
    std::array<std::vector<std::byte>, 3> kept, later;
    auto const save_at = [&](std::uint64_t round, auto& where) {
        return [&where, round](int rank, auto const& at, auto const& loop) {
            if (at.round != round) return true;
            where[static_cast<std::size_t>(rank)] = loop.save();
            return false;
        };
    };
    auto const whole = runs.with({.rounds = 10});
    auto const half = runs.with([](int) { return run_settings{.rounds = 10}; }, save_at(4, kept));
    for (auto const& one : half) {
        CHECK(one.end.rounds == 4);
        CHECK(one.end.why == stop_reason::watch);
    }
    auto const from = [](auto const& states) {
        return [&states](int rank) {
            return run_settings{.rounds = 10, .trace = &a_trace, .resume_from = states[static_cast<std::size_t>(rank)]};
        };
    };
    auto const rest = runs.with(from(kept), [](int, auto const&, auto const&) { return true; });
    for (std::size_t r = 0; r < 3; ++r) {
        CHECK(rest[r].end.rounds == 10);
        CHECK(rest[r].x == whole[r].x);
        CHECK(rounds_of(rest[r].trace) == std::vector<std::uint64_t>{4, 5, 6, 7, 8, 9, 10});
        CHECK(rest[r].trace[0].bits_up == 8 * 16);  // counted anew
    }

    // States of different rounds, of another rank, and damaged ones.
    runs.with([](int) { return run_settings{.rounds = 10}; }, save_at(6, later));
    auto mixed = kept;
    mixed[1] = later[1];
    auto const go_on = [](int, auto const&, auto const&) { return true; };
    for (auto const& one : runs.with(from(mixed), go_on))
        CHECK(one.error ==
              "ranks disagree: rank 0 has \"the round to start from: 4\", rank 1 has \"the round to start from: 6\"");
    auto swapped = kept;
    std::swap(swapped[0], swapped[2]);
    swapped[1] = kept[0];
    for (auto const& one : runs.with(from(swapped), go_on))
        CHECK(one.error.find("this is the state of another run:\n") == 0);
    for (auto& state : mixed) state.back() ^= std::byte{1};
    for (auto const& one : runs.with(from(mixed), go_on))
        CHECK(one.error.find("the saved state is damaged") != std::string::npos);
}

TEST_CASE("ranks with other settings all throw, and do not wait for each other") {
    descents const runs;
    auto const check_disagreement = [&](auto change, std::string const& what, auto const& of_0, auto const& of_1) {
        auto const all = runs.with(
            [&](int rank) {
                run_settings how{.rounds = 5};
                if (rank == 1) change(how);
                return how;
            },
            [](int, auto const&, auto const&) { return true; });
        for (auto const& one : all)
            CHECK(one.error == "ranks disagree: rank 0 has \"" + what + ": " + of_0 + "\", rank 1 has \"" + what +
                                   ": " + of_1 + "\"");
    };
    check_disagreement([](auto& how) { how.rounds = 6; }, "the rounds", "5", "6");
    check_disagreement([](auto& how) { how.bits = 100; }, "the limit of bits", "inf", "100");
    check_disagreement([](auto& how) { how.target = .5; }, "the target", "-inf", "0.5");
    check_disagreement([](auto& how) { how.seconds = 2; }, "the limit of seconds", "inf", "2");
    check_disagreement([](auto& how) { how.check_every = 2; }, "the rounds between checks", "1", "2");
    check_disagreement([](auto& how) { how.trace = &a_trace; }, "the trace", "none", "kept");
}

TEST_CASE("every reason to stop has its name") {
    std::pair<stop_reason, std::string> const names[] = {{stop_reason::rounds, "rounds"},
                                                         {stop_reason::bits, "bits"},
                                                         {stop_reason::target, "target"},
                                                         {stop_reason::time, "time"},
                                                         {stop_reason::watch, "watch"}};
    for (auto const& [why, name] : names) CHECK(to_string(why) == name);
}
