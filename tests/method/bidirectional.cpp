// SPDX-License-Identifier: Apache-2.0
// Compressed answers of the server keep the worker method's optimum or its theorem's bound, and are short.
#include "laconic/method/bidirectional.hpp"

#include "laconic/comm/metered.hpp"
#include "laconic/compress/natural.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/method/dcgd.hpp"
#include "laconic/method/diana.hpp"
#include "laconic/method/ef_sgd.hpp"
#include "laconic/method/gd.hpp"
#include "support/real_data.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace toys;

namespace {

// All ranks' iterates, of the same bits, after some rounds on threads.
template <class M>
vec threaded(M const& method, workers const& f, std::size_t rounds) {
    std::vector<vec> x(f.size(), vec(f[0].dimension(), 1.0));
    threads::run(static_cast<int>(f.size()), [&](threads::member& comm) {
        auto const i = static_cast<std::size_t>(comm.rank());
        descend(method, constants(f), f[i], x[i], comm, {.rounds = rounds, .seed = 5});
    });
    for (auto const& each : x) CHECK(each == x[0]);
    return x[0];
}

}  // namespace

TEST_CASE("an answer in full gives the iterates of none, but for the summation's roundings") {
    auto const f = random_ridges(4, 6, 1, 2);
    auto const p = constants(f);
    diana const method{rand_k{2}, {}};
    lockstep one_way(method.compose<double, host>(p), f, vec(6, 1.0), 1);
    lockstep both_ways(bidirectional{method, identity{}}.compose<double, host>(p), f, vec(6, 1.0), 1);
    for (int k = 0; k < 100; ++k) {
        one_way.round();
        both_ways.round();
        CHECK(distance2(one_way.x(), both_ways.x()) < 1e-26 * norm2(one_way.x()));
    }
}

TEST_CASE("errors kept both ways: x less the errors of all takes uncompressed steps, and reaches a common optimum") {
    auto const f = beznosikov();
    bidirectional const method{ef_sgd{top_k{1}, {.step = .01}}, top_k{1}, 0, true};
    auto const whole = mean_of(f);
    lockstep run(method.compose<double, host>(constants(f)), f, vec(3, 1.0), 1);
    auto const virtual_iterate = [&] {
        vec v = run.x();
        for (std::size_t j = 0; j < 3; ++j) {
            for (std::size_t i = 0; i < 3; ++i) v[j] -= run.residual(i)[j] / 3;
            auto const server = run.transport(0).feedback().residual();
            v[j] -= server[j];
        }
        return v;
    };
    for (int k = 0; k < 200; ++k) {
        vec expected = virtual_iterate(), g(3);
        whole.gradient(run.x(), g);
        for (std::size_t j = 0; j < 3; ++j) expected[j] -= .01 * g[j];
        run.round();
        CHECK(std::sqrt(distance2(virtual_iterate(), expected)) < 1e-14);
    }
    run.rounds(3000);
    CHECK(norm2(run.x()) < 1e-18);
    // What stays in the residual is not lost: without the server's memory the same stalls or is slower by far.
    lockstep forgetful(bidirectional{ef_sgd{top_k{1}, {.step = .01}}, top_k{1}}.compose<double, host>(constants(f)), f,
                       vec(3, 1.0), 1);
    forgetful.rounds(3200);
    CHECK(norm2(forgetful.x()) > norm2(run.x()));
}

TEST_CASE("memories both ways reach the optimum of workers that differ") {
    auto const f = random_ridges(4, 6, 1, 3);
    auto const p = constants(f);
    known_optimum const best(f);
    double const up = 1 / (2 * (1 + 2.)), down = 1 / (2 * (1 + .125));
    bidirectional const method{diana{rand_k{2}, {.step = step_size{.1, true}, .memory = up}}, natural{}, down};
    lockstep run(method.compose<double, host>(p), f, vec(6, 1.0), 1);
    run.rounds(20000);
    CHECK(distance2(run.x(), best.x) < 1e-20);
    CHECK(distance2(threaded(method, f, 300), threaded(method, f, 300)) == 0);
}

TEST_CASE("natural both ways stalls within the bound of its theorem") {
    auto const f = around({{3, 4, 1}, {-1, -7, 2}, {-2, 3, -3}});  // the disagreement is the same everywhere
    auto const whole = mean_of(f);
    known_optimum const best(f);
    double const omega = .125, n = 3, step = .25;
    double const beta = (1 + omega) * (1 + omega / n), noise = (1 + omega) * omega / n * best.disagreement();
    auto const r = bidirectional{dcgd{natural{}, {.step = step}}, natural{}}.compose<double, host>(constants(f));
    vec const start(3, 8.0);
    std::size_t const rounds = 400;
    estimate const mean(50, [&](std::size_t seed) {
        lockstep run(r, f, start, seed);
        double sum = 0;
        for (std::size_t k = 0; k < rounds; ++k) {
            sum += distance2(run.x(), best.x) / double(rounds);  // |grad f|^2, f being a bowl
            run.round();
        }
        return sum;
    });
    double const bound =
        (2 * (whole.value(start) - best.value) / (step * double(rounds)) + noise * step) / (2 - beta * step);
    CHECK(mean.mean + 5 * mean.error <= bound);
    CHECK(mean.mean > .1 * bound);
    lockstep run(r, f, start, 1);
    run.rounds(5000);
    double apart = 0;  // a mean: of numbers as short as these a single round may end at the optimum exactly
    for (int k = 0; k < 500; ++k) {
        run.round();
        apart += distance2(run.x(), best.x) / 500;
    }
    CHECK(apart > .01 * bound);
}

TEST_CASE("real data: within the bound of its theorem, the disagreement being the largest of the run") {
    auto const real = real_data(10);
    if (!real) return;
    auto const& f = real->f;
    auto const& p = real->p;
    double const omega_up = 12, omega_down = .125, n = 10;
    double const beta = (1 + omega_down) * (1 + omega_up / n), step = 1 / (beta * p.smoothness);
    auto const r = bidirectional{dcgd{rand_k{1}, {.step = step}}, natural{}}.compose<double, host>(p);
    vec const start(13, 0.0);
    std::size_t const rounds = 300;
    double disagreement = 0;
    estimate const mean(10, [&](std::size_t seed) {
        lockstep run(r, f, start, seed);
        double sum = 0;
        for (std::size_t k = 0; k < rounds; ++k) {
            auto const g = gradients(f, run.x());
            auto const of_f = mean_of(g);
            double apart = 0;
            for (auto const& each : g) apart += distance2(each, of_f) / n;
            disagreement = std::max(disagreement, apart);
            sum += norm2(of_f) / double(rounds);
            run.round();
        }
        return sum;
    });
    double const noise = (1 + omega_down) * omega_up / n * disagreement;
    double const bound =
        (2 * (mean_value(f, start) - real->best.value) / (step * double(rounds)) + noise * p.smoothness * step) /
        (2 - beta * p.smoothness * step);
    CHECK(mean.mean + 5 * mean.error <= bound);
    CHECK(mean.mean > .05 * bound);
}

TEST_CASE("workers receive one short message a round") {
    auto const f = random_ridges(4, 6, 1, 2);
    bidirectional const method{gd{{.step = .001}}, natural{}};
    std::vector<std::uint64_t> up(4), down(4);
    threads::run(4, [&](threads::member& comm) {
        auto const i = static_cast<std::size_t>(comm.rank());
        vec x(6, 1.0);
        metered wire(comm);
        descent run(method.compose<double, host>(constants(f)), f[i], wire, std::span(x), 1);
        auto const sent_before = wire.bytes_sent(), received_before = wire.bytes_received() + wire.bytes_broadcast();
        run.round();
        up[i] = wire.bytes_sent() - sent_before;
        down[i] = wire.bytes_received() + wire.bytes_broadcast() - received_before;
    });
    CHECK(up == std::vector<std::uint64_t>(4, 48));
    CHECK(down == std::vector<std::uint64_t>(4, 9));  // 6 numbers of 12 bits
}

TEST_CASE("a run that is saved and taken up goes on bit for bit, the server's memory with it") {
    auto const f = random_ridges(3, 6, 1, 3);
    auto const r =
        bidirectional{ef_sgd{top_k{2}, {.step = .001}}, top_k{1}, .5, true}.compose<double, host>(constants(f));
    lockstep first(r, f, vec(6, 1.0), 1), second(r, f, vec(6, 0.0), 1);
    first.rounds(20);
    for (std::size_t i = 0; i < 3; ++i) second.rank(i).restore(first.rank(i).save());
    first.rounds(20);
    second.rounds(20);
    CHECK(first.x() == second.x());
}

TEST_CASE("wrong arguments are refused with the reason, and its text has the right ones") {
    problem const p{8, 5, 4, .5, 9, 6};
    for (double const bad : {-.1, 1.1, double(NAN)})
        CHECK_THROWS_AS((bidirectional{gd{}, natural{}, bad}.compose<double, host>(p)), argument_error);
    CHECK(to_string(bidirectional{gd{}, natural{}}) == "bidirectional(gd, natural)");
    CHECK(to_string(bidirectional{diana{rand_k{.1}}, natural{}, .5}) ==
          "bidirectional(diana(rand_k(0.1)), natural, memory=0.5)");
    CHECK(to_string(bidirectional{ef_sgd{top_k{1}}, top_k{1}, 0, true}) ==
          "bidirectional(ef_sgd(top_k(1)), top_k(1), keep_errors=yes)");
}
