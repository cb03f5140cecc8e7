// SPDX-License-Identifier: Apache-2.0
// Methods with a memory come to known answers, of 12 digits, on quadratics whose numbers are exact in binary.
#include "support/bowl_runs.hpp"
#include "support/everything.hpp"

using bowls::come_to, bowls::composed;

// x <- x - mean C(rate g_i + decay e_i)
auto with_decay(double rate, double decay) {
    auto r = composed(ef_sgd{top_k{2}, {.step = rate}});
    r.feedback = memory<>(0, decay);
    return r;
}

TEST_CASE("error feedback comes to known answers, also where it forgets") {
    come_to(with_decay(.05, 1), {{1, {1, .951171875, 7.73463356972}},
                                 {10, {.745877215322, .470006396051, 4.45634536416}},
                                 {200, {.324686052287, -.42488071603, 2.43638882023}}});
    come_to(with_decay(.05, .95), {{1, {1, .951171875, 7.73463356972}},
                                   {10, {.781189672539, .519080292722, 4.90696393039}},
                                   {200, {.309789313428, -.43822262892, 2.7632136748}}});
}

TEST_CASE("EF21, EF21-SGDM and EF21-BC come to known answers") {
    come_to(composed(ef21{top_k{2}, {.step = .2}}), {{1, {1, .8046875, 7.03304336548}},
                                                     {10, {.416091638947, -.279521022224, 2.62508483245}},
                                                     {100, {.330357142866, -.408333333327, 2.57869293822}}});
    come_to(composed(ef21_sgdm{top_k{2}, .5, {.step = .2}}), {{1, {1, .8046875, 7.03304336548}},
                                                              {10, {.348911760449, -.422033785978, 2.70565362938}},
                                                              {100, {.330357143797, -.4083333333, 2.57869293931}}});
    come_to(composed(bidirectional{ef21{top_k{2}, {.step = .1}}, top_k{3}, 1}),
            {{1, {1, .90234375, 7.4859992981}},
             {10, {.603354492188, .107156039029, 3.22463977909}},
             {200, {.330357142946, -.408333331822, 2.57869293731}}});
}

TEST_CASE("Clip21-SGD2M comes to known answers") {
    // Those are of x before each round.
    come_to(composed(clip21{1, .5, {.step = .2, .memory = .5}}),
            {{1, {.985923629357, .971261320863, 7.77817369437}},
             {9, {.466383688792, -.0997205037847, 2.8964492761}},
             {199, {.330357142857, -.408333333333, 2.57869293823}}});
}

// The sign of each number times the root mean square of its bucket, as DeepSpeed sends them.
struct rms_sign {
    std::size_t bucket = 0;

    template <Scalar T, class B>
    using message = messages::full_vector<T, B>;
    void check(std::size_t) const {}
    void blank(auto&, std::size_t n, key, auto& m) const { messages::begin_message(m, n); }
    void operator()(auto& on, auto x, key from, auto& m) const {
        blank(on, x.size(), from, m);
        std::size_t const most = bucket > 0 ? bucket : x.size();
        for (std::size_t first = 0; first < x.size(); first += most) {
            auto const part = x.subspan(first, most);
            double squares = 0;
            for (double const v : part) squares += v * v;
            double const size = std::sqrt(squares / double(most));
            for (std::size_t j = 0; j < most; ++j) m.values[first + j] = part[j] >= 0 ? size : -size;
        }
    }
    bool operator==(rms_sign const&) const = default;
    friend std::string to_string(rms_sign const& s) { return "rms_sign(" + std::to_string(s.bucket) + ")"; }
};

// Rank 0's answer with a scale for each fourth of the vector: as if each rank answered one fourth.
TEST_CASE("1-bit Adam comes to known answers") {
    auto const by = [](auto of_ranks, auto of_answers) {
        return composed(one_bit_adam<decltype(of_ranks)>{.compressor = of_ranks, .warm_up = 10, .given = {.step = .05}})
            .with_over(served<decltype(of_answers)>{of_answers, {0, 1}, 10});
    };
    come_to(by(scaled_sign{}, scaled_sign{2}), {{10, {.161429619582, -1.04900926905, 4.29376435428}},
                                                {11, {.225106908564, -1.11595236719, 4.6551109153}},
                                                {60, {.456166974866, -.449236444, 5.64964271811}}});
    come_to(by(rms_sign{}, rms_sign{2}), {{10, {.161429619582, -1.04900926905, 4.29376435428}},
                                          {11, {.261475764688, -1.13617159966, 4.83104858586}},
                                          {60, {.202495462637, -.205990177393, 5.24137622282}}});
}

TEST_CASE("EControl comes to known answers") {
    come_to(composed(ef21{top_k{2}, {.step = .1}, false, .1}), {{1, {1, .90234375, 7.48501865387}},
                                                                {10, {.574989908583, .0913876762078, 3.0050359129}},
                                                                {200, {.330357243787, -.408333262338, 2.57869290972}}});
}

// EF21-P with EF21 (Gruntkowska, Tyurin, Richtarik, ICML 2023): the server has x, all have w, where gradients are
// taken:
//     h_i <- h_i + C(g_i(w) - h_i),    x <- x - step mean h_i,    w <- w + C_P(x - w).
// With e = (w - x) / step that is an answer of C_P with error feedback, if C_P commutes with factors.
TEST_CASE("EF21-P with EF21 is EF21 whose server keeps the errors of its answers") {
    std::vector<bowls::vec> xs;
    double const step = .1;
    fibers::run(bowls::ranks, [&](fibers::member& comm) {
        bowls::vec w(bowls::d, 1);
        bowls::bowl const f{comm.rank()};
        descent run(composed(bidirectional{ef21{top_k{2}, {.step = step}}, top_k{3}, 0, true}), f, comm,
                    std::span<double>(w), 1);
        for (int r = 0; r < 200; ++r) {
            run.round();
            if (comm.rank() > 0) continue;
            xs.push_back(w);
            auto const e = run.transport().feedback().residual();
            for (std::size_t j = 0; j < bowls::d; ++j) xs.back()[j] -= step * e[j];
        }
    });
    bowls::check(xs[0], {1, .90234375, 7.48501865387});
    bowls::check(xs[9], {.584716796875, .0927412220836, 3.20771298642});
    bowls::check(xs[199], {.330357142791, -.408333331706, 2.578692937});
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
