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
