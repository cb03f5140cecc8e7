// SPDX-License-Identifier: Apache-2.0
// Runs by hand, and those whose values other programs know.
#include "laconic/comm/metered.hpp"

#include "support/everything.hpp"
#include "support/tasks.hpp"

using namespace toys;

workers diagonal(vec const& curvature, vec const& b) {
    Eigen::VectorXd const h = eigen(curvature);
    return {{h.asDiagonal().toDenseMatrix(), Eigen::VectorXd(eigen(b)), 0}};
}

struct moment_by_hand {
    std::size_t round;
    vec x;
    std::vector<vec> residual = {}, shift = {};  // rank by rank, or not looked at
};
struct run_by_hand {
    std::string method;
    workers f;
    vec start;
    std::vector<moment_by_hand> known;
};

// A problem whose constants are those of f, or the least that suit a step that is given.
any_run run_of(std::string const& method, workers const& f, vec const& start) {
    bool const flat = f[0].h.norm() == 0;
    auto const p = flat ? problem{start.size(), int(f.size())} : constants(f);
    return {named(method, p), any_objectives(f.begin(), f.end()), start, 1};
}

bool near(std::span<double const> x, vec const& y) {
    return x.size() == y.size() && std::sqrt(distance2(x, y)) < 1e-12 * (1 + std::sqrt(norm2(y)));
}

workers two_curved() {
    Eigen::Matrix2d const h = Eigen::Vector2d(1, 10).asDiagonal().toDenseMatrix();
    return {{h, Eigen::Vector2d(1, 20), 20.5}, {h, Eigen::Vector2d(-3, 10), 9.5}};
}
// The paper of gd_sec minimises the sum of M functions; here f is their mean. Its step is our step / M, its L is M
// times ours, its threshold xi / M is our xi L: so our xi is its xi over its L, which is 20.
std::string gd_sec_as_in_the_paper(double xi, double beta) {
    return "gd_sec(xi=" + detail::shortest(xi / 20) + ", beta=" + detail::shortest(beta) + ", step=0.08)";
}

std::vector<run_by_hand> by_hand() {
    auto const stalled = around({{10, 0}, {-10, 0}}), one = around({{1}}), curved = diagonal({1, 2, 4}, {0, 0, 0});
    return {
        {"gd(step=0.5)", around({{3, 4}, {-1, -6}}), {5, 1}, {{1, {3, 0}}}},
        {"dcgd(top_k(1), step=0.1)", stalled, {1, 1}, {{300, {0, 1}}}},
        {"ef21(top_k(1), step=0.1)",
         around({{4, 0}, {0, 3}}),
         {0, 0},
         {{1, {.2, .15}, {}, {{-4, 0}, {0, -3}}},
          {2, {.38, .3}, {}, {{-3.8, 0}, {.2, -3}}},
          {3, {.56, .42}, {}, {{-3.8, .3}, {.2, -2.7}}},
          {4, {.704, .54}, {}, {{-3.44, .3}, {.56, -2.7}}}}},
        // Each value is sent with the momentum it gathered; a worker's gradient is clipped to the norm clip / sqrt n.
        {"dgc(k=1, momentum=0.9, step=1)",
         diagonal({0, 0}, {-1, -.5}),
         {0, 0},
         {{1, {-1, 0}}, {2, {-1, -1.45}}, {3, {-3.9, -1.45}}}},
        {"dgc(k=2, momentum=0.9, clip=10, step=1)",
         around({{30, 40}, {30, 40}, {30, 40}, {30, 40}}),
         {0, 0},
         {{1, {3, 4}}}},
        // With 200 for the message two numbers are worth more than one until the second is small.
        {"cat(top_k, cost=affine(1, 200))",
         curved,
         {1, 1, 1},
         {{1, {1, .5, 0}}, {2, {.75, .25, 0}}, {3, {.5625, .125, 0}}, {4, {.421875, .125, 0}}}},
        // S + Q about (3, 4): both as 3.5, for 68 bits where one takes 66.
        {"cat(top_k | scaled_sign)", around({{0, 0}}), {3, 4}, {{1, {-.5, .5}}}},
        // Each at its own level: 1 and 4.
        {"cat(top_k, cost=affine(1, 64), step=0.5)",
         around({{100, 1, 1, 1}, {1, 1, 1, 1}}),
         {0, 0, 0, 0},
         {{1, {25.25, .25, .25, .25}}}},
        // v = 1, 1, 1/2, 0, -1/4
        {"heavy_ball(gd(step=0.5), beta=0.5)",
         around({{0}}),
         {1},
         {{1, {.5}}, {2, {0}}, {3, {-.25}}, {4, {-.25}}, {5, {-.125}}}},
        // The gradients are minus these; votes (- - + +), (- + + +), (+ + + +) for zeros, (- + - +): ties are positive.
        {"signsgd(step=0.25)",
         around({{1, 5, 0, 2}, {1, -2, 0, -2}, {-4, -1, 0, 2}, {-1, -1, 0, -2}}),
         {0, 0, 0, 0},
         {{1, {-.25, -.25, -.25, -.25}}}},
        // v = -1/2, -1/4 + 1/2, 1/8 - 1/2; and -1/2, -3/8, -9/32 + 1/2
        {"signum(beta=0.5, step=2)", one, {0}, {{1, {2}}, {2, {0}}, {3, {2}}}},
        {"signum(beta=0.75, step=2)", one, {-1}, {{2, {3}}, {3, {1}}}},
        // -2.5 and 2 at the first: -0.5 is sent to all. Then the deltas are (-2.375, 3, 0) and (2.125, 2, -1): 3 at the
        // second and 2.125 at the first, of which 3 is applied.
        {"gtop_k_sgd(k=1, step=0.5)",
         around({{5, -3, 0}, {-4, -2, 1}}),
         {0, 0, 0},
         {{1, {.25, 0, 0}, {{0, 1.5, 0}, {0, 1, -.5}}}, {2, {.25, -1.5, 0}, {{-2.375 + 2.125, 0, 0}, {0, 2, -1}}}}},
        // News are (-4, -3, -.5, 0) and (-3.5, 1, 0, -2), of which (-4, -3) and (-3.5, -2) are sent. Of its second half
        // the first has nothing to hand on; of the first half -7.5 is applied, and of the second -2. Then (-2.125, -6,
        // -1, .5) and (-1.625, 2, 0, -1.5): (-2.125, -6) and (-1.625, 2) are sent, which the second hands over as 2
        // alone.
        {"spardl_sgd(k=2, as_published=yes, step=0.5)",
         around({{8, 6, 1, 0}, {7, -2, 0, 4}}),
         {0, 0, 0, 0},
         {{1, {3.75, 0, 0, 1}, {{0, -3, -.5, 0}, {0, 1, 0, 0}}},
          {2, {3.75, 2, 0, 1}, {{-2.125, 0, -1, .5}, {-1.625, 0, 0, -1.5}}}}},
        // The paper's trace: (-1, -20) and (3, -10) are sent, then nothing but 1.42, (-1.2568, 10) and (0, 20), nothing
        // but 1.208272, and (0, -6) twice; half of each is learned.
        {gd_sec_as_in_the_paper(21, .5),
         two_curved(),
         {0, 0},
         {{1, {-.08, 1.2}, {{0, 0}, {0, 0}}, {{-.5, -10}, {1.5, -5}}},
          {2, {-.1768, 1.8}, {{-.58, 2}, {0, 7}}, {{-.5, -10}, {2.21, -5}}},
          {3, {-.194928, 1.2}, {}, {{-1.1284, -5}, {2.21, 5}}},
          {4, {-.28652288, 1.2}, {}, {{-1.1284, -5}, {2.814136, 5}}},
          {5, {-.35395232, 1.68}, {}, {{-1.1284, -8}, {2.814136, 2}}}}}};
}

TEST_CASE("rounds by hand: the iterates, what is left, and what is known") {
    for (auto const& [text, f, start, known] : by_hand()) {
        std::string const& method = text;  // which a lambda may capture, also with clang++ 14
        CAPTURE(method);
        auto run = run_of(method, f, start);
        std::size_t done = 0;
        for (auto const& at : known) {
            CAPTURE(at.round);
            run.rounds(at.round - done);
            done = at.round;
            CHECK(near(run.x(), at.x));
            for (std::size_t i = 0; i < at.residual.size(); ++i)
                CHECK(near(memory_of(run, i).residual(), at.residual[i]));
            for (std::size_t i = 0; i < at.shift.size(); ++i) CHECK(near(memory_of(run, i).shift(), at.shift[i]));
        }
    }
    vec far(16, 1.0);
    far[3] = 17;  // the mean is 2, the deviation sqrt 15, and what is clipped is rounded exactly
    auto clipped = run_of("terngrad(clip=1.5, step=1)", around({far}), vec(16));
    clipped.round();
    CHECK(*std::max_element(clipped.x().begin(), clipped.x().end()) == clipped.x()[3]);
    CHECK(clipped.x()[3] == doctest::Approx(1.5 * std::sqrt(15.)).epsilon(1e-6));
}

enum class look { at_value, at_gap, at_square, at_first_number };

struct point_of_run {
    std::size_t round;
    double value, precision;
};
struct run_by_others {
    std::string method;
    workers f;
    vec start;
    look how;
    std::vector<point_of_run> known;
};

std::vector<run_by_others> known_to_others() {
    auto const example = beznosikov(), stalled = around({{10, 0}, {-10, 0}}),
               differing = around({{3, 4}, {-1, -7}, {-2, 3}});
    vec const ones(3, 1.0);
    return {
        {"gd", example, ones, look::at_value, {{100, 1.3485e-6, 1e-4}}},
        // A biased compressor without memory diverges there, for every step, as (1 + 11 step / 6)^k.
        {"dcgd(top_k(1), step=0.1)", example, ones, look::at_first_number, {{10, 5.383577673260, 1e-12}}},
        {"dcgd(top_k(1), step=0.05)", example, ones, look::at_first_number, {{10, 2.403811984546, 1e-12}}},
        {"dcgd(top_k(1), step=0.01)", example, ones, look::at_first_number, {{10, 1.199222031603, 1e-12}}},
        // It settles at a wrong point elsewhere; of one worker it needs none: 1 - delta mu / L a round.
        {"dcgd(top_k(1), step=0.1)", differing, {1, 1}, look::at_first_number, {{300, .53224, 1e-5}}},
        {"dcgd(top_k(1), step=1/L)",
         diagonal({1, 2, 4}, {0, 0, 0}),
         ones,
         look::at_value,
         {{0, 3.5, 1e-12},
          {1, 1.5, 1e-12},
          {2, .75, 1e-12},
          {3, .53125, 1e-12},
          {4, .34375, 1e-12},
          {5, .220703125, 1e-12}}},
        {"ef_sgd(top_k(1), step=0.01)",
         example,
         ones,
         look::at_value,
         {{1, 1.814755, 5e-7}, {2, 1.724188, 5e-7}, {3, 1.560334, 5e-7}, {100, .1785728, 5e-7}, {500, 1.267e-5, 5e-4}}},
        {"ef21(top_k(1), step=0.004268781101)",  // theorem 2's step, with which the values are known
         example,
         ones,
         look::at_value,
         {{1, 1.777499, 5e-7},
          {10, 1.644839, 5e-7},
          {100, .6665822, 5e-7},
          {1000, 7.976e-5, 1e-4},
          {2000, 7.976e-5 * 4.4e-5, 2e-2}}},  // 0.99002 a round
        {"ef21(top_k(1), step=0.02)", example, ones, look::at_value, {{100, 1.668e-2, 5e-4}}},
        {"ef21(top_k(1), step=0.1)",
         around({{4, 0}, {0, 3}}),
         {0, 0},
         look::at_gap,
         {{0, 3.125, 1e-12},
          {1, 2.53125, 1e-12},
          {2, 2.0322, 1e-12},
          {3, 1.62, 1e-12},
          {4, 1.300608, 1e-12},
          {50, 4.53e-5, 2e-3},
          {199, 1.64e-19, 5e-3}}},
        // No stall and no floor where error feedback has one.
        {"ef21(top_k(1), step=0.1)",
         stalled,
         {1, 1},
         look::at_square,
         {{1, 1.81, 5e-4},
          {2, 1.45, 5e-4},
          {3, 1.158, 5e-4},
          {4, .928, 5e-4},
          {51, 2.583e-5, 2e-4},
          {101, 3.69e-10, 2e-3}}},
        {"ef21(top_k(1), step=0.1)",
         differing,
         {1, 1},
         look::at_square,
         {{1, 1.504444, 5e-7}, {11, .1595164, 5e-7}, {51, 2.062e-5, 5e-4}, {101, 2.84e-10, .1}, {201, 5e-20, .1}}},
        // Beyond the safe bound it diverges.
        {gd_sec_as_in_the_paper(21, .5), two_curved(), {0, 0}, look::at_square, {{400, 9e44, .4}}}};
}

TEST_CASE("values that other programs know") {
    for (auto const& [text, f, start, how, known] : known_to_others()) {
        std::string const& method = text;  // which a lambda may capture, also with clang++ 14
        CAPTURE(method);
        auto run = run_of(method, f, start);
        auto const whole = mean_of(f);
        std::size_t done = 0;
        for (auto const& at : known) {
            CAPTURE(at.round);
            run.rounds(at.round - done);
            done = at.round;
            double const found = how == look::at_value    ? whole.value(run.x())
                                 : how == look::at_gap    ? distance2(run.x(), known_optimum(f).x) / 2
                                 : how == look::at_square ? norm2(run.x())
                                                          : run.x()[0];
            CHECK(found == doctest::Approx(at.value).epsilon(at.precision).scale(0));
        }
    }
}

TEST_CASE("ef_sgd: a constant step leaves a known floor, of the order of its square") {
    auto const f = around({{3, 4}, {-1, -7}, {-2, 3}});
    for (auto const& [step, known] : {std::pair{"0.1", 2.34e-2}, {"0.01", 2.288e-4}, {"0.001", 2.277e-6}}) {
        auto run = run_of("ef_sgd(top_k(1), step=" + std::string(step) + ")", f, {1, 1});
        auto const rounds = static_cast<std::size_t>(40 / std::stod(step));
        run.rounds(rounds - rounds / 4);
        double tail = 0;
        for (std::size_t k = 0; k < rounds / 4; ++k) {
            run.round();
            tail += norm2(run.x()) / static_cast<double>(rounds / 4);
        }
        CHECK(tail == doctest::Approx(known).epsilon(3e-3).scale(0));
    }
}

TEST_CASE("gd_sec with safe numbers takes the rounds of gradient descent") {
    auto const f = two_curved();
    for (auto const& [text, rounds] : {std::pair{std::string("gd(step=0.08)"), 277},
                                       {gd_sec_as_in_the_paper(5.6, 0), 277},
                                       {gd_sec_as_in_the_paper(5.6, .01), 277},
                                       {gd_sec_as_in_the_paper(5.6, 1), 277},
                                       {gd_sec_as_in_the_paper(5.6, .5), 278},
                                       {gd_sec_as_in_the_paper(2, .5), 277}}) {
        std::string const& method = text;  // which a lambda may capture, also with clang++ 14
        CAPTURE(method);
        auto run = run_of(method, f, {0, 0});
        int k = 0;
        for (; k < 1000 && distance2(run.x(), vec{-1, 1.5}) >= 1e-20; ++k) run.round();
        CHECK(k == rounds);
    }
}

TEST_CASE("dgc warms up: it sends 25 %, 6.25 %, 1.5625 %, 0.4 %, then k") {
    auto const f = around({vec(1000, 1.0)});
    auto const r = named("dgc(k=0.001, momentum=0.9, warm_up=8, step=0.1)", problem{1000, 1});
    any_run run(r, any_objectives(f.begin(), f.end()), vec(1000), 1);
    for (std::size_t const count : {250u, 250u, 63u, 63u, 16u, 16u, 4u, 4u, 1u, 1u}) {
        run.round();
        CHECK(run.message_of_rank(0).get<detail::message_of<top_k<>>>().support.size() == count);
    }
}

TEST_CASE("heavy_ball falls by sqrt beta a round with Polyak's numbers, where gradient descent does not") {
    // f = (x^2 + 100 y^2) / 2: step 4 / (sqrt L + sqrt mu)^2, beta ((sqrt L - sqrt mu) / (sqrt L + sqrt mu))^2.
    auto const f = diagonal({1, 100}, {0, 0});
    auto ball = run_of(
        "heavy_ball(gd(step=" + detail::shortest(4. / 121) + "), beta=" + detail::shortest(81. / 121) + ")", f, {1, 1});
    auto plain = run_of("gd", f, {1, 1});
    ball.rounds(200);
    plain.rounds(200);
    // A double root: the distance is at most k sqrt(beta)^k times a constant.
    CHECK(std::sqrt(norm2(ball.x())) < 1000 * std::pow(9. / 11, 200));
    CHECK(std::sqrt(norm2(ball.x())) > 1e-3 * std::pow(9. / 11, 200));
    CHECK(std::sqrt(norm2(plain.x())) > .1);
}

TEST_CASE("what a round sends and receives, in bytes") {
    struct {
        std::string method;
        int ranks;
        std::size_t d;
        std::uint64_t up, down;
    } const all[] = {{"bidirectional(gd(step=0.001), natural)", 4, 6, 48, 9},  // 6 numbers in full, and of 12 bits
                     {"signsgd(step=0.25)", 3, 1000, 125, 125},
                     {"gd(step=0.5)", 2, 2, 16, 16}};
    for (auto const& [text, ranks, d, up, down] : all) {
        std::string const& method = text;  // which a lambda may capture, also with clang++ 14
        CAPTURE(method);
        auto const f = around(std::vector<vec>(std::size_t(ranks), vec(d, 1.0)));
        auto const r = named(method, problem{d, ranks});
        threads::run(ranks, [&, d = d, up = up, down = down](threads::member& comm) {
            vec x(d);
            any_objective<> const mine(f[std::size_t(comm.rank())]);
            metered wire(comm);
            descent run(r, mine, wire, std::span(x), 1);
            auto const sent = wire.bytes_sent(), received = wire.bytes_received() + wire.bytes_broadcast();
            run.round();
            CHECK(wire.bytes_sent() - sent == up);
            CHECK(wire.bytes_received() + wire.bytes_broadcast() - received == down);
        });
    }
}

TEST_CASE("marina: in each round all ranks send in full, or all what the compressor keeps") {
    auto const t = ridges(3, 12, 2);
    auto const states = history(named("marina(rand_k(3), p=0.3)", t.p), t.f, vec(12, 1.0), 600);
    int full = 0;
    for (std::size_t k = 1; k <= 600; ++k) {
        auto const size = states[k].bytes[0].size();
        CHECK((size == 96 || size == 24));
        for (auto const& message : states[k].bytes) CHECK(message.size() == size);
        full += size == 96;
    }
    CHECK(states[1].bytes[0].size() == 96);
    CHECK(std::abs(full - 180) < 5 * std::sqrt(600 * .3 * .7));
}

TEST_CASE("iasgd with all blocks and equal workers: Nesterov's method, on every rank the same") {
    auto const one = diagonal({1, 4, 9}, {0, 0, 0})[0];
    auto run = run_of("iasgd(tau=3, block=1, rho=1)", workers(3, one), vec(3, 1.0));
    accelerated_step<> reference(1. / 9, 1);
    host on;
    vec x(3, 1.0), d(3);
    for (int k = 0; k < 50; ++k) {
        one.gradient(x, d);
        reference(on, std::span(x), std::span(d));
        run.round();
        CHECK(distance2(run.x(), x) < 1e-26);
    }
}
