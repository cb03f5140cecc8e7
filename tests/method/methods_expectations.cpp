// SPDX-License-Identifier: Apache-2.0
// Theorems of blocks, tables of gradients and local steps along a run, in exact expectation over all that may be drawn.
#include "laconic/compress/lazy.hpp"

#include "support/everything.hpp"
#include "support/tasks.hpp"

using namespace laconic;
using namespace toys;

namespace {

// What the compressor makes of g for one key.
template <class Message>
vec decoded(any_recursion<> const& r, vec const& g, key from, Message& m) {
    host on;
    vec all(g.size());
    r.compressor(on, std::span<double const>(g), from, m);
    add_message(on, std::span<double>(all), 1.0, m);
    return all;
}

// E|x+ - x*|^2 of one round at x, where a message holds k of d coordinates, or all with probability tau (k = 0).
double expected_distance(any_recursion<> const& r, any_objectives const& f, vec const& x, vec const& best,
                         std::size_t outcomes, double tau = 0) {
    double const n = double(f.size()), step = r.step.rate();
    vec next = x;
    double variance = 0;
    for (auto const& g : gradients(f, x)) {
        detail::message_of<any_compressor<>> m;
        vec mean(g.size());
        double squares = 0;
        std::set<std::vector<coordinate>> seen;
        for (std::uint64_t seed = 0; seen.size() < outcomes; ++seed) {
            auto const all = decoded(r, g, key{seed}, m);
            auto const& support = tau > 0 ? m.get<detail::message_of<scaled_down<lazy<>>>>().inside.support
                                          : m.get<detail::message_of<scaled_down<rand_block<>>>>().inside.support;
            std::vector<coordinate> drawn;
            for (std::size_t t = 0; t < support.size(); ++t) drawn.push_back(support[t]);
            if (!seen.insert(drawn).second) continue;
            double const share = tau == 0 ? 1 / double(outcomes) : drawn.empty() ? 1 - tau : tau;
            for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += share * all[j];
            squares += share * norm2(all);
        }
        for (std::size_t j = 0; j < x.size(); ++j) next[j] -= step * mean[j] / n;
        variance += (squares - norm2(mean)) / (n * n);
    }
    return distance2(next, best) + step * step * variance;
}

// The worst E|x+ - x*|^2 / |x - x*|^2 along a run; that it gets to `share` of the first.
double worst_of_run(any_recursion<> const& r, any_objectives const& f, known_optimum const& best, std::size_t outcomes,
                    double tau, double share) {
    any_run run(r, f, vec(13), 1);
    double worst = 0;
    for (std::size_t const wait : {0u, 1u, 10u, 100u, 1000u}) {
        run.rounds(wait);
        double const next = expected_distance(r, f, run.x(), best.x, outcomes, tau);
        worst = std::max(worst, next / distance2(run.x(), best.x));
    }
    CHECK(distance2(run.x(), best.x) < share * norm2(best.x));
    return worst;
}

any_objectives agreeing(real_problem const& real) {
    auto const f = made_to_agree(real);
    return {f.begin(), f.end()};
}

}  // namespace

TEST_CASE("real data: ibcd and ibgd of workers that agree fall by 1 - step tau mu, others to their floor") {
    auto const real = real_data(10);
    if (!real) return;
    auto const f = agreeing(*real);
    auto const& p = real->p;
    auto const& best = real->best;
    double const tau = 2. / 13, mu = p.strong_convexity, l = p.largest_smoothness;
    auto const step_of = [&](double share) { return 1 / (share * p.smoothness + (1 - share) * l / 10); };
    double worst = worst_of_run(named("ibcd(tau=2, block=1)", p), f, best, 78, 0, 1e-6);
    CHECK(worst <= 1 - step_of(tau) * tau * mu);
    CHECK(worst > .9);
    worst = worst_of_run(named("ibgd(tau=0.25)", p), f, best, 2, .25, 1e-3);
    CHECK(worst <= 1 - step_of(.25) * .25 * mu);
    CHECK(worst > .9);
    // Those that differ: half the spread, and 2 step (1 - tau) zeta^2 / (n mu) is as far as they stay.
    double const half = 1 / (tau * p.smoothness + 2 * (1 - tau) * l / 10);
    auto const shorter = named("ibcd(tau=2, block=1, step=" + detail::shortest(half) + ")", p);
    double const noise = 2 * half * half * tau * (1 - tau) * best.disagreement() / 10;
    any_objectives const as_they_are(real->f.begin(), real->f.end());
    double largest_ratio = 0;
    for (double const away : {0., .01, .1, 1.}) {
        vec x = best.x;
        for (double& v : x) v *= 1 - away;
        double const next = expected_distance(shorter, as_they_are, x, best.x, 78);
        largest_ratio = std::max(largest_ratio, next / ((1 - half * tau * mu) * distance2(x, best.x) + noise));
    }
    CHECK(largest_ratio <= 1);
    CHECK(largest_ratio > .8);
}

namespace {

// Keys under which each of m rows is drawn once.
std::vector<key> keys_of_all_rows(std::size_t m) {
    std::map<std::uint64_t, key> found;
    for (std::uint64_t seed = 0; found.size() < m; ++seed) found.emplace(key{seed}.below(0, m), key{seed});
    std::vector<key> keys;
    for (auto const& entry : found) keys.push_back(entry.second);
    return keys;
}
round_context drawing(key row, key own = {}) {
    round_context now;
    now.gradient = row;
    now.own = own;
    return now;
}

}  // namespace

TEST_CASE("real data: isaga of workers that agree, x and the table together, fall as its theorem says") {
    auto const real = real_data(10);
    if (!real) return;
    auto const f = agreeing(*real);
    auto const& p = real->p;
    auto const& best = real->best;
    auto const there = row_gradients(f, best.x);
    auto const r = named("isaga(tau=1, block=1)", p);
    double const tau = 1. / 13, step = r.step.rate(), weight = 3. / 100 * step * step;
    CHECK(step == doctest::Approx(1 / (p.largest_sample_smoothness * (tau + .4))));
    auto const staleness = [&](any_estimator<> const& e, std::size_t i) {
        auto const mine = part_of(e, block_saga<>(rand_block<>{1, 1}));
        double total = 0;
        for (std::size_t j = 0; j < 27; ++j) total += distance2(mine.table().subspan(13 * j, 13), there[i][j]);
        return total;
    };
    host on;
    detail::message_of<any_compressor<>> m;
    auto const rows = keys_of_all_rows(27);
    std::map<coordinate, key> coordinates;
    for (std::uint64_t seed = 0; coordinates.size() < 13; ++seed) {
        r.compressor(on, std::span<double const>(best.x), key{seed}, m);
        coordinates.emplace(m.get<detail::message_of<scaled_down<rand_block<>>>>().inside.support[0], key{seed});
    }
    any_run run(r, f, vec(13), 1);
    run.round();
    double worst = 0;
    for (std::size_t const wait : {0u, 100u, 1000u}) {
        run.rounds(wait);
        double v = distance2(run.x(), best.x), stale = 0, variance = 0;
        vec next = run.x();
        for (std::size_t i = 0; i < 10; ++i) {
            v += weight * staleness(run.method(i).estimator, i);
            vec mean(13);
            double squares = 0;
            for (auto const row : rows)
                for (auto const& [coordinate, own] : coordinates) {
                    auto mine = run.method(i).estimator;
                    vec g(13);
                    mine(on, f[i], drawing(row, own), std::span<double const>(run.x()), std::span<double>(g));
                    auto const all = decoded(r, g, own, m);
                    for (std::size_t j = 0; j < 13; ++j) mean[j] += all[j] / 351;
                    squares += norm2(all) / 351;
                    mine.update(on, std::span<double const>(run.x()));
                    stale += staleness(mine, i) / 351;
                }
            for (std::size_t j = 0; j < 13; ++j) next[j] -= step * mean[j] / 10;
            variance += (squares - norm2(mean)) / 100;
        }
        worst = std::max(worst, (distance2(next, best.x) + step * step * variance + weight * stale) / v);
    }
    CHECK(worst <= 1 - tau * std::min(step * p.strong_convexity, 1. / 81));
    CHECK(worst > .9);
}

namespace {

// sum_j |grad f_j at what the estimator remembers - grad f_j(x*)|^2.
double staleness(l_svrg<> const& e, any_objective<> const& f, vec const& best) {
    auto const here = row_gradients(any_objectives{f}, e.reference())[0],
               there = row_gradients(any_objectives{f}, best)[0];
    double sum = 0;
    for (std::size_t j = 0; j < f.samples(); ++j) sum += distance2(here[j], there[j]);
    return sum;
}
// SAGA's table is about the losses alone: the penalty's gradient is exact, so nothing of it is stale.
double staleness(saga<> const& e, any_objective<> const& f, vec const& best) {
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
// The same of what it remembers after its next round at x, expected.
double staleness_after(l_svrg<> e, any_objective<> const& f, vec const& x, vec const& best) {
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
double staleness_after(saga<> const& e, any_objective<> const& f, vec const& x, vec const& best) {
    host on;
    double mean = 0;
    for (auto const row : keys_of_all_rows(f.samples())) {
        auto mine = e;
        vec g(x.size());
        mine(on, f, drawing(row), std::span<double const>(x), std::span<double>(g));
        mine.update(on, std::span<double const>(x));
        mean += staleness(mine, f, best) / double(f.samples());
    }
    return mean;
}

// The worst E psi+ / psi along a run with rand_k(1), exactly: all rows and all coordinates that may be drawn.
template <class Estimator>
double worst_ratio(std::string const& method, Estimator const& like, real_problem const& real) {
    any_objectives const f(real.f.begin(), real.f.end());
    auto const& best = real.best;
    double const omega = 12, alpha = 1 / (1 + omega), n = 10;
    auto const r = named(method, real.p);
    double const step = r.step.rate();
    double const of_h = square(step) * 4 * (omega + 1) / (alpha * n),
                 of_table = square(step) * 16 * (omega + 1) / n / n;
    CHECK(step == doctest::Approx(1 / (real.p.largest_sample_smoothness * (1 + 36 * (omega + 1) / n))));
    any_run run(r, f, vec(13), 3);
    run.round();
    host on;
    double worst = 0;
    for (std::size_t const wait : {0u, 10u, 100u, 1000u}) {
        run.rounds(wait);
        auto const known = shifts_of(run, 10);
        double before = distance2(run.x(), best.x), stale = 0;
        std::vector<std::vector<vec>> choices(10);
        for (std::size_t i = 0; i < 10; ++i) {
            auto const e = part_of(run.method(i).estimator, like);
            before += of_h * distance2(known[i], best.gradients[i]) / n + of_table * staleness(e, f[i], best.x);
            stale += staleness_after(e, f[i], run.x(), best.x);
            for (auto const row : keys_of_all_rows(27)) {
                auto mine = e;
                choices[i].emplace_back(13);
                mine(on, f[i], drawing(row), std::span<double const>(run.x()), std::span<double>(choices[i].back()));
            }
        }
        expected_round const next(rand_k{1}, alpha, step, choices, run.x(), known, best);
        worst = std::max(worst, (next.x + of_h * next.h + of_table * stale) / before);
    }
    double const rho = std::min({real.p.strong_convexity * step, alpha / 2, 3 / (8. * 27)});
    CHECK(worst <= 1 - rho);
    CHECK(worst > .9);
    return worst;
}

}  // namespace

TEST_CASE("real data: vr_diana's function falls by 1 - rho along a run, in exact expectation, with either memory") {
    auto const real = real_data(10);
    if (!real) return;
    worst_ratio("vr_diana(rand_k(1))", l_svrg<>(1, 1. / 27), *real);
    worst_ratio("vr_diana_saga(rand_k(1))", saga<>(1), *real);
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
