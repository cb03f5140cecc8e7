// SPDX-License-Identifier: Apache-2.0
// Methods come to known answers, of 12 digits, on quadratics whose numbers are exact in binary: here on the host and on
// the reference, which defines what kernels compute; tests/device has them on a device.
#include "laconic/backend/reference.hpp"
#include "support/everything.hpp"
#include "support/laws/known_runs.hpp"

TEST_CASE_TEMPLATE("methods come to known answers", B, host, reference) { laws::known_descents<B>(); }
TEST_CASE_TEMPLATE("methods whose draws are given come to known answers", B, host, reference) {
    laws::known_by_hand<B>();
}

TEST_CASE("error feedback that forgets stays about as far from the optimum, and cures nothing") {
    for (auto const& [decay, known] : {std::pair{1., .0641}, {.99, .0609}, {.95, .0663}, {.9, .0736}}) {
        auto r = bowls::composed(ef_sgd{top_k{2}, {.step = .05}});
        r.feedback = memory<>(0, decay);
        auto const xs = bowls::course(r, 3000);
        double mean = 0;
        for (std::size_t round = 1000; round < 3000; ++round) {
            double off = 0, size = 0;
            for (std::size_t j = 0; j < bowls::d; ++j) {
                double pull = 0, curvature = 0;
                for (int i = 0; i < bowls::ranks; ++i)
                    pull += bowls::a(i, j) * bowls::b(i, j), curvature += bowls::a(i, j);
                off += std::pow(xs[round][j] - pull / curvature, 2), size += std::pow(pull / curvature, 2);
            }
            mean += std::sqrt(off / size) / 2000;
        }
        CHECK(mean / known == doctest::Approx(1).epsilon(1e-3));
    }
}

TEST_CASE("signs times the root mean square lose 2 |x|^2 (1 - |x|_1 / (sqrt d |x|_2)): of a sparse x more than all") {
    host on;
    for (bowls::vec const& x : {bowls::vec{1, -2, .5, 3}, {4, 0, 0, 0}, {1, 1, -1, 1}}) {
        bowls::vec left = x;
        add_message(on, std::span(left), -1., laconic::compress(laws::rms_sign{}, x, key{1}));
        double error = 0, square = 0, sum = 0;
        for (std::size_t j = 0; j < 4; ++j) error += left[j] * left[j], square += x[j] * x[j], sum += std::abs(x[j]);
        CHECK(error == doctest::Approx(2 * square * (1 - sum / (2 * std::sqrt(square)))).epsilon(1e-12));
        CHECK((error >= square) == (x[1] == 0));
    }
}

// x less what both residuals hold back moves as by momentum whose messages are sent in full.
TEST_CASE("with v fixed 1-bit Adam is momentum SGD with error feedback in the norm of sqrt(v)") {
    constexpr double step = .05;
    std::array<bowls::vec, bowls::ranks> e;
    fibers::run(bowls::ranks, [&](fibers::member& comm) {
        auto const copied = [](std::span<double const> v) { return bowls::vec(v.begin(), v.end()); };
        bowls::vec x(bowls::d, 1), last;
        bowls::bowl const f{comm.rank()};
        descent run(bowls::composed(one_bit_adam<>{.warm_up = 10, .given = {.step = step}}), f, comm,
                    std::span<double>(x), 1);
        for (int round = 0; round < 60; ++round) {
            auto const before = x, m = copied(run.method().step.mean());
            run.round();
            e[std::size_t(comm.rank())] = copied(run.method().feedback.residual());
            comm.all_gather({});  // until all have their residuals
            if (comm.rank() == 0 && round >= 10) {
                auto const held = copied(run.transport().feedback().residual());
                auto now = x;
                for (std::size_t j = 0; j < bowls::d; ++j) {
                    double const rate = step / (std::sqrt(run.method().step.square()[j]) + 1e-8);
                    double g = 0;
                    now[j] -= rate * held[j];
                    for (int i = 0; i < bowls::ranks; ++i) {
                        now[j] -= rate * e[std::size_t(i)][j] / bowls::ranks;
                        g += bowls::gradient(i, j, before[j]) / bowls::ranks;
                    }
                    if (round > 10)
                        CHECK(now[j] == doctest::Approx(last[j] - rate * (.9 * m[j] + .1 * g)).epsilon(1e-10));
                }
                last = now;
            }
            comm.all_gather({});
        }
    });
}

// From h = g(w) on, by the step that bidirectional gives to EF21.
TEST_CASE("EF21-P with EF21 falls in every round as its theorem promises") {
    problem const p{bowls::d, bowls::ranks, 1.125, .875, 1.5, 1.5, .5};
    for (auto const& ks : {std::pair{2, 3}, {1, 1}, {6, 1}, {1, 7}}) {
        int const k = ks.first, k_answer = ks.second;
        CAPTURE(k);
        CAPTURE(k_answer);
        double const delta = k / 8., answer_delta = k_answer / 8., l = 1.125, lt = 1.5;
        top_k const c{k}, of_answers{k_answer};
        auto const step = bidirectional{ef21{c}, of_answers, 0, true}.compose<double, host>(p).step.rate;
        CHECK(step == proved_step::ef21_p(l, lt, delta, answer_delta).size);
        CHECK(step < ef21{c}.proved(p).size);
        CHECK(bidirectional{ef21{c}, of_answers, 1, false}.compose<double, host>(p).step.rate ==
              ef21{c}.proved(p).size);
        double const theta = 1 - std::sqrt(1 - delta), theta_answer = 1 - std::sqrt(1 - answer_delta);
        double const a = 2 * std::pow(2 - theta_answer, 2) * (1 - delta) / theta / theta * lt * lt;
        host on;
        bowls::vec x(bowls::d, 1), w(bowls::d, 1);
        std::vector<bowls::vec> h(bowls::ranks, bowls::vec(bowls::d));
        for (int i = 0; i < bowls::ranks; ++i) bowls::gradient(i, w, h[static_cast<std::size_t>(i)]);
        auto const send = [&](top_k<> const& by, bowls::vec const& to, bowls::vec& from) {
            bowls::vec delta_of = to;
            for (std::size_t j = 0; j < to.size(); ++j) delta_of[j] -= from[j];
            add_message(on, std::span(from), 1., compress(by, delta_of, key{1}));
        };
        double slope = 0;
        auto const phi = [&] {
            double f = 0, off = 0, apart = 0;
            slope = 0;
            for (std::size_t j = 0; j < bowls::d; ++j) {
                double curvature = 0, pull = 0, g = 0;
                for (int i = 0; i < bowls::ranks; ++i) {
                    curvature += bowls::a(i, j) / 4, pull += bowls::a(i, j) * bowls::b(i, j) / 4;
                    g += bowls::gradient(i, j, x[j]) / 4;
                    double const u = h[static_cast<std::size_t>(i)][j] - bowls::gradient(i, j, w[j]);
                    off += u * u / 4;
                }
                f += curvature * std::pow(x[j] - pull / curvature, 2) / 2;
                apart += (w[j] - x[j]) * (w[j] - x[j]);
                slope += g * g;
            }
            return f + step / theta * off + step * (l * l + a) / theta_answer * apart;
        };
        double worst = -1;
        for (int r = 0; r < 300; ++r) {
            double const before = phi(), allowed = before - step / 2 * slope;
            for (std::size_t j = 0; j < bowls::d; ++j) x[j] -= step * (h[0][j] + h[1][j] + h[2][j] + h[3][j]) / 4;
            send(of_answers, x, w);
            for (int i = 0; i < bowls::ranks; ++i) {
                bowls::vec g(bowls::d);
                bowls::gradient(i, w, g);
                send(c, g, h[static_cast<std::size_t>(i)]);
            }
            worst = std::max(worst, (phi() - allowed) / before);
        }
        CHECK(worst <= 0);
        CHECK(worst > -.1);
    }
}
