// SPDX-License-Identifier: Apache-2.0
// VR-DIANA falls at its theorem's rate with L-SVRG or SAGA, and reaches the optimum from batches of rows.
#include "laconic/method/vr_diana.hpp"

#include "laconic/any/compressor.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/method/diana.hpp"
#include "laconic/objective/logistic_regression.hpp"
#include "support/data.hpp"
#include "support/real_data.hpp"
#include "support/test.hpp"

using namespace laconic;

namespace tests_of_vr_diana {

using toys::copied;
using toys::distance2;
using toys::lockstep;
using toys::norm2;
using toys::square;
using toys::vec;

static_assert(Method<vr_diana<rand_k<>>> && Method<vr_diana_saga<rand_k<>, l1>>);

namespace {

using any = any_compressor<>;
using tasks = std::vector<logistic_regression<>>;

template <class M>
auto composed(M const& method, problem const& p) {
    return method.template compose<double, host>(p);
}

// n ranks of m random rows each; lambda = mu = 0.1.
tasks random_tasks(int n, int m, int d) {
    tasks f;
    for (int i = 0; i < n; ++i) {
        dataset<> data;
        data.name = "random rows";
        data.rows.resize(m, d);
        for (int r = 0; r < m; ++r) {
            auto const from = key{17}.child(std::uint64_t(i)).child(std::uint64_t(r));
            for (int j = 0; j < d; ++j) data.rows.insert(r, j) = 4 * from.uniform(std::uint64_t(j)) - 2;
            data.labels.push_back(from.uniform(100) < .5 ? 1 : -1);
        }
        f.emplace_back(std::move(data), .1);
    }
    return f;
}

// heart_scale, a third for each rank.
tasks hearts(dataset<double> const& whole) {
    tasks f;
    for (int i = 0; i < 3; ++i) {
        dataset<> part;
        part.name = "a third of heart_scale";
        part.rows = whole.rows.middleRows(90 * i, 90);
        part.labels.assign(whole.labels.begin() + 90 * i, whole.labels.begin() + 90 * (i + 1));
        f.emplace_back(std::move(part), .1);
    }
    return f;
}

problem constants(tasks const& f) {
    problem p{f[0].dimension(), int(f.size())};
    p.strong_convexity = p.least_strong_convexity = f[0].lambda();
    for (auto const& each : f) {
        p.samples = std::max(p.samples, each.samples());
        p.largest_sample_smoothness = std::max(p.largest_sample_smoothness, each.sample_smoothness());
    }
    return p;
}

double value(tasks const& f, std::span<double const> x) {
    double sum = 0;
    for (auto const& each : f) sum += each.value(x) / double(f.size());
    return sum;
}

// x*, by gradient descent as far as double precision goes.
vec minimum(tasks const& f) {
    double const n = double(f.size()), step = 1 / constants(f).largest_sample_smoothness;
    vec x(f[0].dimension()), at, g(x.size());
    for (int k = 0; k < 1000; ++k) {
        at = x;
        for (auto const& each : f) {
            each.gradient(at, g);
            for (std::size_t j = 0; j < g.size(); ++j) x[j] -= step / n * g[j];
        }
    }
    return x;
}

vec row_gradient(logistic_regression<> const& f, std::uint32_t j, std::span<double const> x) {
    vec g(x.size());
    f.batch_gradient(std::span(&j, 1), x, g);
    return g;
}

// sum_j |grad f_j at what the estimator remembers - grad f_j(x*)|^2.
double staleness(l_svrg<> const& e, logistic_regression<> const& f, vec const& best) {
    double sum = 0;
    for (std::uint32_t j = 0; j < f.samples(); ++j)
        sum += distance2(row_gradient(f, j, e.reference()), row_gradient(f, j, best));
    return sum;
}
double staleness(saga<> const& e, logistic_regression<> const& f, vec const& best) {
    double sum = 0;
    for (std::uint32_t j = 0; j < f.samples(); ++j) {
        double slope = 0;
        vec row(best.size());
        f.slopes(j, best, std::span(&slope, 1));
        slope = e.table()[j] - slope;
        f.add_row(j, std::span<double const>(&slope, 1), 1, row);
        sum += norm2(row);
    }
    return sum;
}

// Keys under which each of m rows is drawn once.
std::vector<key> keys_of_all_rows(std::size_t m) {
    std::vector<key> keys;
    std::vector<bool> seen(m);
    for (std::uint64_t seed = 0; keys.size() < m; ++seed) {
        auto const row = key{seed}.below(0, m);
        if (!seen[row]) keys.push_back(key{seed});
        seen[row] = true;
    }
    return keys;
}

// The theorem's. SAGA's table is about the losses alone: the penalty's gradient is exact, so nothing of it is stale.
template <class R>
double lyapunov(std::vector<R> const& parts, std::span<double const> x, tasks const& f, vec const& best, double omega) {
    double const n = double(f.size()), step = parts[0].step.rate, alpha = parts[0].feedback.rate();
    double h = 0, stale = 0;
    for (std::size_t i = 0; i < f.size(); ++i) {
        vec g(x.size());
        f[i].gradient(best, g);
        h += distance2(parts[i].feedback.shift(), g);
        stale += staleness(parts[i].estimator, f[i], best);
    }
    return distance2(x, best) +
           square(step) * (4 * (omega + 1) / (alpha * n * n) * h + 16 * (omega + 1) / (n * n) * stale);
}

// One round of copies of all ranks' parts, with the randomness of `from`.
template <class R>
vec one_round(std::vector<R>& parts, std::span<double const> x, tasks const& f, key from) {
    host on;
    auto const n = static_cast<int>(f.size());
    vec mean(x.size()), next(x.begin(), x.end());
    message_of<any> m;
    for (int i = 0; i < n; ++i) {
        auto& mine = parts[std::size_t(i)];
        auto const now = round_context::of(from, 1, i, n);
        vec g(x.size());
        mine.estimator(on, f[std::size_t(i)], now, x, std::span<double>(g));
        mine.feedback.compensate(on, now, g);
        mine.compressor(on, std::span<double const>(g), now.own, m);
        add_message(on, std::span<double>(mean), 1. / n, m);
        mine.feedback.update(on, std::span<double const>(g), m);
    }
    auto first = parts[0];
    first.feedback.reconstruct(on, round_context::of(from, 1, 0, n), std::span<double>(mean));
    first.step(on, std::span<double>(next), std::span<double>(mean));
    for (int i = 0; i < n; ++i) parts[std::size_t(i)].estimator.update(on, std::span<double const>(next));
    return next;
}

template <class M>
void falls_as_promised(M const& method, tasks const& f, double omega) {
    auto const p = constants(f);
    auto const best = minimum(f);
    auto const recursion = composed(method, p);
    double const n = double(f.size()), m = double(p.samples);
    double const rate = 1 - std::min({p.strong_convexity * recursion.step.rate, 1 / (2 * (1 + omega)), 3 / (8 * m)});
    lockstep run(recursion, f, vec(best.size(), 2.0), 3);
    double worst = 0;
    run.round();
    for (std::size_t const wait : {0u, 3u, 30u, 300u}) {
        run.rounds(wait);
        std::vector<std::remove_const_t<decltype(recursion)>> parts;
        for (std::size_t i = 0; i < f.size(); ++i) parts.push_back(run.method(i));
        double const before = lyapunov(parts, run.x(), f, best, omega);
        toys::estimate const after(400, [&](std::size_t s) {
            auto mine = parts;
            auto const x = one_round(mine, run.x(), f, key{50}.child(s));
            return lyapunov(mine, x, f, best, omega);
        });
        CHECK(after.mean - 5 * after.error <= rate * before);
        CHECK(after.error < .05 * before);
        worst = std::max(worst, after.mean / before);
    }
    CHECK(worst > .5);
    CHECK(recursion.step.rate == doctest::Approx(1 / (p.largest_sample_smoothness * (1 + 36 * (omega + 1) / n))));
    run.rounds(static_cast<std::size_t>(std::log(1e-21) / std::log(rate)));
    CHECK(distance2(run.x(), best) < 1e-18 * norm2(best));
}

}  // namespace

TEST_CASE("its Lyapunov function falls by 1 - rho, with either memory of gradients, and both reach the optimum" *
          doctest::test_suite("slow")) {
    auto const f = random_tasks(4, 6, 10);
    for (std::size_t const k : {3u, 10u}) {
        double const omega = 10. / double(k) - 1;
        falls_as_promised(vr_diana{any(rand_k{k})}, f, omega);
        falls_as_promised(vr_diana_saga{any(rand_k{k})}, f, omega);
    }
}

namespace {

// sum_j |grad f_j - grad f_j(x*)|^2 of what the estimator remembers after its next round at x, expected.
double staleness_after(l_svrg<> e, logistic_regression<> const& f, vec const& x, vec const& best) {
    double const before = staleness(e, f, best), m = double(f.samples());
    host on;
    round_context now;
    vec g(x.size());
    for (std::uint64_t seed = 0; !(now.shared.uniform(0) < 1 / m); ++seed) now.shared = key{seed};
    e(on, f, now, std::span<double const>(x), std::span<double>(g));
    e.update(on, std::span<double const>(x));
    CHECK(copied(e.reference()) == x);
    return staleness(e, f, best) / m + (1 - 1 / m) * before;
}
double staleness_after(saga<> const& e, logistic_regression<> const& f, vec const& x, vec const& best) {
    host on;
    auto const m = f.samples();
    double mean = 0;
    for (auto const from : keys_of_all_rows(m)) {
        auto mine = e;
        round_context now;
        now.gradient = from;
        vec g(x.size());
        mine(on, f, now, std::span<double const>(x), std::span<double>(g));
        mine.update(on, std::span<double const>(x));
        mean += staleness(mine, f, best) / double(m);
    }
    return mean;
}

// The worst E psi+ / psi along a run with rand_k{1}, exactly: all rows and all coordinates that may be drawn.
template <class M>
double worst_ratio(M const& method, toys::real_problem const& real) {
    auto const& f = real.f;
    auto const& x_best = real.best.x;
    double const omega = 12, alpha = 1 / (1 + omega), n = 10;
    auto const recursion = composed(method, real.p);
    double const step = recursion.step.rate;
    double const of_h = square(step) * 4 * (omega + 1) / (alpha * n),
                 of_table = square(step) * 16 * (omega + 1) / n / n;
    CHECK(step == doctest::Approx(1 / (real.p.largest_sample_smoothness * (1 + 36 * (omega + 1) / n))));
    lockstep run(recursion, f, vec(13, 0.0), 3);
    run.round();
    host on;
    double worst = 0;
    for (std::size_t const wait : {0u, 10u, 100u, 1000u}) {
        run.rounds(wait);
        double before = distance2(run.x(), x_best), stale = 0;
        std::vector<std::vector<vec>> choices;
        std::vector<vec> known;
        for (std::size_t i = 0; i < 10; ++i) {
            auto const& e = run.method(i).estimator;
            known.push_back(copied(run.known(i)));
            before += of_h * distance2(known[i], real.best.gradients[i]) / n + of_table * staleness(e, f[i], x_best);
            stale += staleness_after(e, f[i], run.x(), x_best);
            choices.emplace_back();
            for (auto const from : keys_of_all_rows(27)) {
                auto mine = e;
                round_context now;
                now.gradient = from;
                choices[i].emplace_back(13);
                mine(on, f[i], now, std::span<double const>(run.x()), std::span<double>(choices[i].back()));
            }
        }
        toys::expected_round const next(rand_k{1}, alpha, step, choices, run.x(), known, real.best);
        worst = std::max(worst, (next.x + of_h * next.h + of_table * stale) / before);
    }
    return worst;
}

}  // namespace

TEST_CASE("real data: its function falls by 1 - rho along a run, in exact expectation, with either memory") {
    auto const real = toys::real_data(10);
    if (!real) return;
    any const c(rand_k{1});
    double const step = composed(vr_diana{c}, real->p).step.rate;
    double const rho = std::min({real->p.strong_convexity * step, 1. / 26, 3 / (8. * 27)});
    for (double const worst : {worst_ratio(vr_diana{c}, *real), worst_ratio(vr_diana_saga{c}, *real)}) {
        CHECK(worst <= 1 - rho);
        CHECK(worst > .9);
    }
}

TEST_CASE("on heart_scale both come within 1e-10 of the least value, and diana with the same rows does not") {
    auto const data = test_data("heart_scale");
    if (!data) return;
    auto const f = hearts(*data);
    auto const p = constants(f);
    double const least = value(f, minimum(f));
    any const c(quantize{8});
    auto const gap_of = [&](auto const& method) {
        lockstep run(composed(method, p), f, vec(p.dimension, 0.0), 1);
        run.rounds(6000);
        return value(f, run.x()) - least;
    };
    CHECK(gap_of(vr_diana{c, {.batch = 4}}) < 1e-10);
    CHECK(gap_of(vr_diana_saga{c, {.batch = 4}}) < 1e-10);
    double const step = composed(vr_diana{c}, p).step.rate;
    CHECK(gap_of(diana{c, {.step = step, .batch = 4}}) > 1e-7);
}

TEST_CASE("of one sample each it is diana") {
    auto const f = random_tasks(3, 1, 5);
    auto const p = constants(f);
    any const c(rand_k{2});
    auto const recursion = composed(vr_diana{c}, p);
    rates const same{.step = recursion.step.rate, .memory = recursion.feedback.rate()};
    lockstep reduced(recursion, f, vec(5, 1.0), 2);
    lockstep plain(composed(diana{c, same}, p), f, vec(5, 1.0), 2);
    lockstep table(composed(vr_diana_saga{c}, p), f, vec(5, 1.0), 2);
    for (int k = 0; k < 100; ++k) {
        reduced.round();
        plain.round();
        table.round();
        REQUIRE(std::sqrt(distance2(reduced.x(), plain.x())) < 1e-12);
        REQUIRE(std::sqrt(distance2(table.x(), plain.x())) < 1e-12);
        REQUIRE(std::sqrt(distance2(reduced.known(1), plain.known(1))) < 1e-12);
    }
}

TEST_CASE("its numbers by hand, and its text") {
    problem const p{8, 5, 3, .5, 7, 6, .5, 40, 9};
    auto const r = composed(vr_diana{rand_k{2}, {.batch = 4}}, p);  // omega = 3
    CHECK(r.step.rate == doctest::Approx(1 / (9 * (1 + 36 * 4 / 5.))));
    CHECK(r.step.rate == r.step.step.rate);
    CHECK(r.feedback.rate() == .25);
    CHECK_FALSE(r.feedback.keeps_residual());
    CHECK(to_string(r.estimator) == "l_svrg(batch=4, p=0.1)");
    CHECK(to_string(composed(vr_diana{rand_k{2}}, p).estimator) == "l_svrg(batch=1, p=0.025)");
    CHECK(to_string(composed(vr_diana_saga{rand_k{2}}, p).estimator) == "saga(batch=1)");
    CHECK(composed(vr_diana_saga{rand_k{2}, {.memory = .125}}, p).feedback.rate() == .125);
    CHECK(to_string(composed(vr_diana{rand_k{2}, {.step = .5}, l1{.1}}, p).step) ==
          "gradient_step(0.5), l1(0.1) for 0.5");
    CHECK(to_string(vr_diana{rand_k{2}, {.batch = 4}}) == "vr_diana(rand_k(2), batch=4)");
    CHECK(to_string(vr_diana_saga{rand_k{2}}) == "vr_diana_saga(rand_k(2))");
}

TEST_CASE("wrong arguments are refused with the reason") {
    problem const p{8, 5, 3, .5, 7, 6, .5, 40, 9};
    CHECK_THROWS_WITH_AS(composed(vr_diana{rand_k{2}}, problem{8, 5, 3, .5, 7, 6, .5, 40}),
                         doctest::Contains("max L_ij"), theory_error);
    CHECK_THROWS_WITH_AS(composed(vr_diana{rand_k{2}}, problem{8, 5, 3, .5, 7, 6, .5, 0, 9}),
                         doctest::Contains("number of samples"), theory_error);
    CHECK_THROWS_WITH_AS(composed(vr_diana_saga{rand_k{2}}, problem{8, 5}), doctest::Contains("max L_ij"),
                         theory_error);
    CHECK_THROWS_WITH_AS(composed(vr_diana{rand_k{2}, {.memory = .3}}, p), doctest::Contains("outside (0, 0.25]"),
                         argument_error);
    CHECK_THROWS_WITH_AS(composed(vr_diana{any(top_k{2})}, p), doctest::Contains("top_k(2) is biased"), theory_error);
}

}  // namespace tests_of_vr_diana
