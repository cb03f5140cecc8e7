// SPDX-License-Identifier: Apache-2.0
// Theorems, in every round or in exact expectation along a run, on ridge regressions and on real data. (The program
// convergence, whose bounds a test checks, has those of ef_sgd, ef21, vr_diana, blocks, gd_sec and lag, and exact
// expectations of what is random.)
#include "laconic/adapt/message_sizes.hpp"

#include "support/data.hpp"
#include "support/everything.hpp"
#include "support/tasks.hpp"

using namespace toys;

std::string number(double v) { return detail::shortest(v); }

// V = |x - x*|^2 + weight mean |h_i - grad f_i(x*)|^2 has E V+ <= (1 - fall) V + floor, where the step is this and
// messages are of k coordinates, or of k blocks of one coordinate each.
struct shift_theorem {
    std::size_t k;
    double alpha, step, weight, fall, floor = 0;
    bool of_one_row = false;
};

void holds_along_a_run(task const& t, std::string const& method, shift_theorem const& by, double least) {
    CAPTURE(t.name);
    CAPTURE(method);
    auto const r = named(method, t.p);
    CHECK(r.step.rate() == doctest::Approx(by.step));
    any_run run(r, t.f, t.start, 2);
    std::vector<vec> known;
    auto const lyapunov = [&] {
        double const v = distance2(run.x(), t.best.x);
        if (by.alpha == 0) return v;
        known = shifts_of(run, t.f.size());
        return v + by.weight * t.off(known);
    };
    double const first = lyapunov();
    double worst = 0;
    for (std::size_t const wait : {0u, 1u, 10u, 100u, 1000u}) {
        run.rounds(wait);
        double const v = lyapunov();
        if (v < 1e-18 * first) break;  // roundings are as large
        auto const choices = by.of_one_row ? row_gradients(t.f, run.x()) : certain(gradients(t.f, run.x()));
        expected_round const next(rand_k{by.k}, by.alpha, by.step, choices, run.x(), known, t.best);
        worst = std::max(worst, (next.x + by.weight * next.h) / ((1 - by.fall) * v + by.floor));
    }
    CHECK(worst <= 1 + 1e-12);
    CHECK(worst > least);  // it is not void
    // Markov: except for a chance of 1 in 10.
    if (by.floor == 0) CHECK(lyapunov() < 10 * std::pow(1 - by.fall, 1111) * first);
}

TEST_CASE("messages of random coordinates, without shifts and with them, of all rows and of one") {
    for (auto const& t : tasks(10)) {
        auto const& p = t.p;
        double const d = double(p.dimension), n = 10, l = p.largest_smoothness, mu = p.strong_convexity;
        double const zeta2 = t.best.disagreement(), omega = d / 3 - 1;
        bool const has_rows = p.samples > 0;
        double step = 1 / (p.smoothness + 2 * omega * l / n);
        holds_along_a_run(t, "dcgd(rand_k(3))", {3, 0, step, 0, step * mu, step * step / n * 2 * omega * zeta2},
                          has_rows ? .7 : .3);
        for (double const share :
             {.25, .5, 1.}) {  // of the largest rate: the sharp form's twice, then the general form's
            double const alpha = share / (1 + omega), spread = share < 1 ? omega / (n * (1 - share)) : 6 * omega / n;
            double const least = p.least_strong_convexity;
            step = std::min((share < 1 ? alpha : alpha / 2) / least, 2 / ((l + least) * (1 + spread)));
            holds_along_a_run(
                t, "diana(rand_k(3), memory=" + number(alpha) + ")",
                {3, alpha, step, step * step * (share < 1 ? spread / alpha : 4 * omega / (alpha * n)), step * least},
                .5);
        }
        double const tau = 2 / d, by_blocks = d / 2 - 1;  // both theorems of ISEGA, of which the longer step is taken
        double const papers = std::min(1 / (4 * l * (1 + 1 / (n * tau))), 1 / (mu / tau + 4 * l / (n * tau)));
        double const least = p.least_strong_convexity;
        double const dianas = std::min(tau / (2 * least), 2 / ((l + least) * (1 + 6 * by_blocks / n)));
        CHECK(named("isega(tau=2, block=1)", p).step.rate() == doctest::Approx(std::max(papers, dianas)));
        holds_along_a_run(t, "isega(tau=2, block=1, step=" + number(papers) + ")",
                          {2, tau, papers, papers / (2 * l * tau), papers * mu}, .5);
        holds_along_a_run(t, "isega(tau=2, block=1, step=" + number(dianas) + ")",
                          {2, tau, dianas, 4 * by_blocks / (tau * n) * dianas * dianas, dianas * least}, .5);
        if (!has_rows) continue;
        double const sigma2 = variance_of_choices(row_gradients(t.f, t.best.x)), row = p.largest_sample_smoothness;
        double const all = d - 1;  // omega of one coordinate
        step = 1 / (p.smoothness + 2 * row / n);
        holds_along_a_run(t, "sgd", {13, 0, step, 0, step * mu, 2 * step * step / n * sigma2, true}, .7);
        step = 1 / (p.smoothness + 2 * all * l / n + 2 * (1 + all) * row / n);
        holds_along_a_run(t, "dcgd(rand_k(1), batch=1)",
                          {1, 0, step, 0, step * mu, step * step / n * 2 * (all * zeta2 + (1 + all) * sigma2), true},
                          .7);
        double const alpha = 1 / (2 * (1 + all));
        step = std::min(alpha / (2 * mu), 1 / (p.smoothness + 6 * all * l / n + (2 + 10 * all) * row / n));
        holds_along_a_run(t, "diana(rand_k(1), batch=1)",
                          {1, alpha, step, 4 * all / (alpha * n) * step * step, step * mu,
                           (2 + 10 * all) * step * step * sigma2 / n, true},
                          .7);
    }
}

TEST_CASE("gd: f - f* falls by 1 - mu / L, every round") {
    for (auto const& t : tasks(10)) {
        any_run run(named("gd", t.p), t.f, t.start, 1);
        double gap = t.gap(run.x());
        for (int k = 0; k < 100; ++k) {
            run.round();
            double const next = t.gap(run.x());
            CHECK(next - (1 - t.p.strong_convexity / t.p.smoothness) * gap <= 1e-13);
            gap = next;
        }
    }
}

// mean |grad f(x^t)|^2 over T rounds of EF21, over the bound 2 (f(x^0) - least) / (step T) + G^0 / (theta T) of theorem
// 1, G^0 being mean |h_i - grad f_i(x^0)|^2 once the first round has been sent. The step is that for mu = 0.
double share_of_bound(any_objectives const& f, problem p, double least, vec const& start, int rounds) {
    p.strong_convexity = 0;
    auto const r = named("ef21(top_k(1))", p);
    double const theta = 1 - std::sqrt(1 - 1 / double(p.dimension)), step = r.step.rate();
    any_run run(r, f, start, 1);
    double squares = 0, apart = 0;
    for (int t = 0; t < rounds; ++t) {
        auto const g = gradients(f, run.x());
        squares += norm2(mean_of(g)) / rounds;
        run.round();
        if (t == 0) {
            auto const h = shifts_of(run, f.size());
            for (std::size_t i = 0; i < f.size(); ++i) apart += distance2(h[i], g[i]) / double(f.size());
        }
    }
    return squares / (2 * (mean_value(f, start) - least) / (step * rounds) + apart / (theta * rounds));
}

TEST_CASE("ef21 of any smooth f, also where it is not convex: the mean square of the gradients is within theorem 1") {
    auto const t = ridges(4, 6, 1);
    for (int const rounds : {1, 300}) CHECK(share_of_bound(t.f, t.p, t.best.value, vec(6, 2.0), rounds) <= 1);
    auto const data = test_data("heart_scale");
    if (!data) return;
    any_objectives f;
    problem p{13, 10, nonconvex_logistic<>(*data, .1).smoothness()};
    for (std::size_t i = 0; i < 10; ++i) {
        nonconvex_logistic<> const mine(data->part(i, 10), .1);
        p.mean_square_smoothness += square(mine.smoothness()) / 10;
        f.push_back(mine);
    }
    p.mean_square_smoothness = std::sqrt(p.mean_square_smoothness);
    for (int const rounds : {10, 300}) {
        double const share = share_of_bound(f, p, 0, vec(13, 1.0), rounds);  // both parts of f are above 0
        CHECK(share <= 1);
        CHECK(share > 1e-3);
    }
    any_run run(named("ef21(top_k(1))", p), f, vec(13, 1.0), 1);  // as in the paper's experiments
    run.rounds(1500);
    CHECK(norm2(mean_of(gradients(f, run.x()))) < 1e-7);
}

TEST_CASE("signsgd, one worker: the mean 1-norm of the gradient is within the theorem, with its best step") {
    for (auto const& t : tasks(1)) {
        double const gap = t.gap(t.start), d = double(t.p.dimension), rounds = 400;
        double const step = std::sqrt(2 * gap / (d * t.p.smoothness * rounds));
        any_run run(named("signsgd(step=" + number(step) + ")", t.p), t.f, t.start, 1);
        double mean = 0;
        for (int k = 0; k < int(rounds); ++k) {
            auto const g = gradients(t.f, run.x());
            for (double const v : g[0]) mean += std::abs(v) / rounds;
            run.round();
        }
        double const share = mean / std::sqrt(2 * gap * d * t.p.smoothness / rounds);
        CHECK(share <= 1);
        CHECK(share > .05);
    }
}

// |x - b|_1 and one of its subgradients.
struct corner {
    vec b;
    std::size_t dimension() const { return b.size(); }
    double value(std::span<double const> x) const {
        double sum = 0;
        for (std::size_t j = 0; j < b.size(); ++j) sum += std::abs(x[j] - b[j]);
        return sum;
    }
    void gradient(std::span<double const> x, std::span<double> g) const {
        for (std::size_t j = 0; j < b.size(); ++j) g[j] = x[j] > b[j] ? 1 : -1;
    }
};

TEST_CASE("dual_averaging of functions with corners: within (R^2 / (2 step) + step G^2) / sqrt(T)") {
    any_objectives const f{corner{{0, 5}}, corner{{1, 0}}, corner{{4, 1}}};  // the medians: (1, 1)
    double const r2 = 13, g2 = 2;
    for (double const step : {.1, std::sqrt(r2 / 2 / g2)}) {
        any_run run(named("dual_averaging(step=" + number(step) + ")", problem{2, 3}), f, {3, 4}, 1);
        for (int t = 1; t <= 1000; ++t) {
            run.round();
            auto const mine = part_of(run.method(0).step, dual_averaging_step<>(1));
            double const gap = mean_value(f, mine.average()) - mean_value(f, vec{1, 1});
            REQUIRE(gap >= -1e-12);
            REQUIRE(gap <= (r2 / (2 * step) + step * g2) / std::sqrt(t));
        }
    }
}

TEST_CASE("dual_averaging: the mean of the iterates is within 2 L R^2 / sqrt(T)") {
    for (auto const& t : tasks(10)) {
        any_run run(named("dual_averaging", t.p), t.f, t.start, 1);
        double largest = 0;
        for (int k = 1; k <= 500; ++k) {
            run.round();
            auto const step = part_of(run.method(std::size_t(k) % 10).step, dual_averaging_step<>(1));
            double const bound = 2 * t.p.smoothness * distance2(t.start, t.best.x) / std::sqrt(k);
            largest = std::max(largest, t.gap(step.average()) / bound);
        }
        CHECK(largest <= 1);
        CHECK(largest > .05);
    }
}

TEST_CASE("cat, one worker: the descent lemma in every round and over all, for the share that the message kept") {
    auto const levels = [](task const& t, auto const& c, std::string const& arguments) {
        auto const& p = t.p;
        any_run run(named("cat(" + arguments + ")", p), t.f, t.start, 1);
        double const first = t.value(t.start), rounding = 1e-14 * std::abs(first);
        double value = first, product = 1, sharpest = 0;
        std::set<std::size_t> chosen;
        for (int k = 0; k < 100; ++k) {
            auto const g = gradients(t.f, run.x())[0];
            run.round();
            vec m(g.size());
            host on;
            add_message(on, std::span<double>(m), 1.0, run.message_of_rank(0));
            double const q = 1 - distance2(m, g) / norm2(g);
            double const promise = q * norm2(g) / (2 * p.smoothness), next = t.value(run.x());
            REQUIRE(q >= 1. / double(g.size()) - 1e-14);
            REQUIRE(next <= value - promise + rounding);
            if (promise > 1e6 * rounding) sharpest = std::max(sharpest, promise / (value - next));
            product *= 1 - q * p.strong_convexity / p.smoothness;
            REQUIRE(next - t.best.value <= product * (first - t.best.value) + rounding);
            // As texts make it, and for a cost that the text does not name.
            using compressor = std::remove_cvref_t<decltype(c)>;
            using as_given = detail::message_of<best_level<compressor, two_way_cost, message_sizes>>;
            auto const& sent = run.message_of_rank(0);
            if (sent.template holds<as_given>()) {
                chosen.insert(sent.template get<as_given>().level);
            } else {
                REQUIRE(sent.template holds<detail::message_of<best_level<compressor>>>());
                chosen.insert(sent.template get<detail::message_of<best_level<compressor>>>().level);
            }
            value = next;
        }
        CHECK(sharpest > .3);  // it is not void
        return chosen.size();
    };
    for (auto const& t : tasks(1)) {
        CHECK(levels(t, top_k{1}, "top_k, cost=affine(1, 256)") > 1);
        CHECK(levels(t, top_k{1}, "top_k") == 1);
        CHECK(levels(t, top_k{1} | scaled_sign{}, "top_k | scaled_sign, cost=packets(20, 4, 1)") > 1);
    }
}

TEST_CASE("bidirectional: natural both ways, within the bound for the largest disagreement of the run") {
    auto all = tasks(10);
    auto const bowls = around({{3, 4, 1}, {-1, -7, 2}, {-2, 3, -3}});
    all[0] = task_of("bowls", bowls, constants(bowls), known_optimum(bowls), vec(3, 8.0));
    for (auto const& t : all) {
        CAPTURE(t.name);
        bool const real = t.p.samples > 0;
        double const omega_up = real ? 12 : .125, omega_down = .125, n = t.workers(), l = t.p.smoothness;
        double const beta = (1 + omega_down) * (1 + omega_up / n), step = real ? 1 / (beta * l) : .25;
        auto const r = named("bidirectional(dcgd(" + std::string(real ? "rand_k(1)" : "natural") +
                                 ", step=" + number(step) + "), natural)",
                             t.p);
        std::size_t const rounds = real ? 300 : 400;
        double disagreement = 0;
        estimate const mean(real ? 10 : 50, [&](std::size_t seed) {
            any_run run(r, t.f, t.start, seed);
            double sum = 0;
            for (std::size_t k = 0; k < rounds; ++k) {
                auto const g = gradients(t.f, run.x());
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
        double const bound = (2 * t.gap(t.start) / (step * double(rounds)) + noise * l * step) / (2 - beta * l * step);
        CHECK(mean.mean + 5 * mean.error <= bound);
        CHECK(mean.mean > .05 * bound);
    }
}

TEST_CASE("marina: its Lyapunov function falls by 1 - step mu, in exact expectation, which the library's rounds have") {
    std::size_t const kept = 3;
    for (auto const& t : tasks(10)) {
        CAPTURE(t.name);
        auto const r = named("marina(rand_k(3))", t.p);
        auto const d = t.p.dimension;
        double const omega = double(d) / double(kept) - 1, coin = 1 / (1 + omega), step = r.step.rate(), n = 10;
        any_run run(r, t.f, t.start, 4);
        last_gradient<> started(coin);
        started.start(d);
        auto const feedback_of = [&](std::size_t i) { return part_of(run.method(i).feedback, started); };
        // What a round makes of the estimate at x, every rank's parts being those of the run.
        auto const next_estimate = [&](key from) {
            host on;
            vec mean(d);
            for (int i = 0; i < 10; ++i) {
                auto mine = run.method(std::size_t(i));
                auto const now = round_context::of(from, 1, i, 10);
                vec g(d);
                t.f[std::size_t(i)].gradient(run.x(), g);
                mine.feedback.compensate(on, now, g);
                mine.level.tune(on, mine.compressor, now, std::span<double const>(run.x()), std::span<double const>(g));
                detail::message_of<any_compressor<>> m;
                mine.compressor(on, std::span<double const>(g), now.own, m);
                add_message(on, std::span<double>(mean), 1 / n, m);
            }
            auto first = run.method(0);
            first.feedback.reconstruct(on, round_context::of(from, 1, 0, 10), mean);
            return mean;
        };
        double worst = 0;
        for (int k = 0; k < 22; ++k) {
            double before = t.gap(run.x());
            auto const here = mean_of(gradients(t.f, run.x()));
            run.round();
            before += step / coin * distance2(feedback_of(0).last_estimate(), here);
            // E|g+ - grad|^2 = (1 - p)(|g + grad f(x+) - grad f(x) - grad f(x+)|^2 + the variance).
            double variance = 0;
            vec mean_last(d);
            auto const g = gradients(t.f, run.x());
            for (std::size_t i = 0; i < 10; ++i) {
                auto const mine = feedback_of(i);
                variance += omega * distance2(g[i], mine.last()) / (n * n);
                for (std::size_t j = 0; j < d; ++j) mean_last[j] += mine.last()[j] / n;
            }
            double const expected = (1 - coin) * (distance2(feedback_of(0).last_estimate(), mean_last) + variance);
            worst = std::max(worst, (t.gap(run.x()) + step / coin * expected) / before);
            if (k % 20 == 1) {
                auto const there = mean_of(g);
                estimate const seen(1000,
                                    [&](std::size_t s) { return distance2(next_estimate(key{99}.child(s)), there); });
                CHECK(std::abs(seen.mean - expected) < 5 * seen.error);
                CHECK(seen.error < .1 * expected);
            }
        }
        CHECK(worst <= 1 - step * t.p.strong_convexity);
        CHECK(worst > .5);
    }
}

TEST_CASE("marina of any smooth f: the mean square of the gradients is within 2 (f(x^0) - f*) / (step K)") {
    auto t = ridges(5, 12, 11);
    t.p.strong_convexity = 0;
    auto const r = named("marina(rand_k(3))", t.p);
    int const rounds = 40;
    estimate const mean(50, [&](std::size_t seed) {
        any_run run(r, t.f, t.start, seed);
        double sum = 0;
        for (int k = 0; k < rounds; ++k) {
            sum += norm2(mean_of(gradients(t.f, run.x()))) / rounds;
            run.round();
        }
        return sum;
    });
    double const bound = 2 * t.gap(t.start) / (r.step.rate() * rounds);
    CHECK(mean.mean + 5 * mean.error <= bound);
    CHECK(mean.mean > 1e-3 * bound);
}

TEST_CASE("proxskip: each local step V falls in expectation by 1 - min(step mu, p^2)") {
    for (auto const& t : tasks(10))
        for (double const chosen : {0., .1, .6}) {
            CAPTURE(t.name);
            CAPTURE(chosen);
            double const step = 1 / t.p.largest_smoothness, progress = step * t.p.least_strong_convexity;
            double const sends = chosen > 0 ? chosen : std::sqrt(progress);
            auto const r = named("proxskip" + (chosen > 0 ? "(p=" + detail::shortest(chosen) + ")" : ""), t.p);
            CHECK(r.step.rate() == step);
            auto const n = t.f.size(), d = t.p.dimension;
            auto const lyapunov = [&](std::vector<vec> const& x, std::vector<vec> const& h) {
                double v = 0;
                for (std::size_t i = 0; i < n; ++i)
                    v += distance2(x[i], t.best.x) + square(step / sends) * distance2(h[i], t.best.gradients[i]);
                return v;
            };
            host on;
            local_steps<> const like(sends, step, 0);
            any_run run(r, t.f, t.start, 3);
            run.round();
            double worst = 0;
            for (int k = 1; k < 20; ++k) {
                std::vector<vec> h;
                for (std::size_t i = 0; i < n; ++i) h.push_back(copied(part_of(run.method(i).estimator, like).shift()));
                double before = lyapunov(std::vector<vec>(n, run.x()), h);
                for (std::uint64_t l = 1; l <= 5; ++l) {  // after l of them all ranks send, or none does
                    round_context now;
                    for (std::uint64_t seed = 0; like.steps(now) != l; ++seed)
                        now = round_context::of(key{2}, seed, 0, 2);
                    std::vector<local_steps<>> parts;
                    std::vector<vec> y, after;
                    for (std::size_t i = 0; i < n; ++i) {
                        parts.push_back(part_of(run.method(i).estimator, like));
                        vec g(d);
                        parts[i](on, t.f[i], now, std::span<double const>(run.x()), std::span<double>(g));
                        y.push_back(run.x());
                        for (std::size_t j = 0; j < d; ++j) y[i][j] -= step * g[j];
                    }
                    vec const next = mean_of(y);
                    for (auto& mine : parts) {
                        mine.update(on, std::span<double const>(next));
                        after.push_back(copied(mine.shift()));
                    }
                    double const apart = lyapunov(y, h), together = lyapunov(std::vector<vec>(n, next), after);
                    worst = std::max(worst, (sends * together + (1 - sends) * apart) / before);
                    before = apart;
                }
                run.round();
            }
            double const rate = 1 - std::min(progress, sends * sends);
            CHECK(worst <= rate * (1 + 1e-9));
            CHECK(worst > rate - .5);
        }
}
