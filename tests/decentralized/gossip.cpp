// SPDX-License-Identifier: Apache-2.0
// CHOCO-SGD and gossip of pairs: means, fixed points, theorems, the optimum, errors on all ranks, and states.
#include "laconic/decentralized/gossip.hpp"

#include "decentralized/networks.hpp"
#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"
#include "support/rounds.hpp"

using namespace networks;

// The fixed point of x <- (I + gamma (W - I)) (x - step grad f(x)), of decentralized gradient descent: as a linear
// system in all models.
std::vector<vec> fixed_point(std::vector<ridge<>> const& f, graph const& g, double step, double gamma) {
    auto const n = static_cast<Eigen::Index>(f.size()), d = static_cast<Eigen::Index>(f[0].dimension());
    Eigen::MatrixXd mix = Eigen::MatrixXd::Identity(n * d, n * d), move = mix;
    Eigen::VectorXd shift(n * d);
    for (Eigen::Index i = 0; i < n; ++i) {
        Eigen::MatrixXd h;
        vec const zero(f[0].dimension());
        f[std::size_t(i)].hessian(zero, h);
        move.block(i * d, i * d, d, d) -= step * h;
        shift.segment(i * d, d) = -step * toys::eigen(gradient_of(f[std::size_t(i)], zero));
        for (Eigen::Index m = 0; m < n; ++m) {
            double const w = i == m
                                 ? g.own_weight(int(i)) - 1
                                 : double(std::ranges::count(g.neighbours(int(i)), int(m))) * g.weight(int(i), int(m));
            mix.block(i * d, m * d, d, d) += gamma * w * Eigen::MatrixXd::Identity(d, d);
        }
    }
    Eigen::MatrixXd const a = Eigen::MatrixXd::Identity(n * d, n * d) - mix * move;
    Eigen::VectorXd const x = a.fullPivLu().solve(mix * shift);
    std::vector<vec> all;
    for (Eigen::Index i = 0; i < n; ++i) all.emplace_back(x.data() + i * d, x.data() + (i + 1) * d);
    return all;
}
double largest_gap(std::vector<vec> const& a, std::vector<vec> const& b) {
    double most = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < a[i].size(); ++j) most = std::max(most, std::abs(a[i][j] - b[i][j]));
    return most;
}

// The gradient is b in the first round, and 0 later: what is left is averaging alone.
struct pushed_once {
    vec b;
    mutable int calls = 0;
    std::size_t dimension() const { return b.size(); }
    double value(std::span<double const>) const { return 0; }
    void gradient(std::span<double const>, std::span<double> g) const {
        for (std::size_t j = 0; j < b.size(); ++j) g[j] = calls == 0 ? b[j] : 0;
        ++calls;
    }
};
std::vector<pushed_once> pushes(std::size_t n, std::size_t d) {
    std::vector<pushed_once> f(n);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < d; ++j) f[i].b.push_back(key{9}.uniform(i * d + j) - .5);
    return f;
}

graph tree() { return {6, {{0, 1}, {0, 2}, {0, 3}, {3, 4}, {4, 5}}}; }

TEST_CASE("CHOCO: the mean of the models moves as gradient descent does, whatever the compressor") {
    auto const w = six_workers();
    auto const check = [&](auto const& method) {
        std::vector<vec> before(6, vec(4));
        run_until(method, w.f, 30, [&](int, auto const& now) {
            vec expected(4);
            for (std::size_t i = 0; i < 6; ++i) {
                auto const g = gradient_of(w.f[i], before[i]);
                for (std::size_t j = 0; j < 4; ++j) expected[j] += (before[i][j] - .3 * g[j]) / 6;
            }
            auto const mean = toys::mean_of(now.x);
            for (std::size_t j = 0; j < 4; ++j) CHECK(std::abs(mean[j] - expected[j]) < 1e-15);
            before = now.x;
            return false;
        });
    };
    check(choco<top_k<>>{.compressor = {1}, .step = .3, .gamma = .3});
    check(choco<scaled_sign>{.step = .3, .gamma = .2, .over = tree()});
    check(choco<rand_k<>>{.compressor = {2}, .step = .3, .gamma = .1, .over = graph::star(6, 2)});
}

TEST_CASE(
    "CHOCO: with a constant step it ends at the fixed point of decentralized gradient descent, for any compressor") {
    auto const w = six_workers();
    auto const ends = [&](auto const& method, graph const& g, int rounds) {
        auto const best = fixed_point(w.f, g, method.step, method.gamma);
        double error = 1;
        run_until(method, w.f, rounds, [&](int, auto const& now) {
            error = largest_gap(now.x, best);
            return error < 1e-11;
        });
        CHECK(error < 1e-11);
        CHECK(w.largest_error(best) > 1e-3);
    };
    ends(choco<>{.step = .3, .gamma = 1, .over = tree()}, tree(), 2000);
    ends(choco<top_k<>>{.compressor = {1}, .step = .3, .gamma = .2, .over = tree()}, tree(), 4000);
    ends(choco<quantize>{.compressor = {15}, .step = .2, .gamma = .5}, graph::ring(6), 4000);
}

TEST_CASE("CHOCO: with the gamma that is proved, averaging falls at least by its rate a round") {
    auto const f = pushes(6, 10);
    for (auto const& g : {graph::ring(6), tree(), graph::star(6, 0)}) {
        choco<top_k<>> const method{.compressor = {2}, .step = 1, .proved = true, .over = g};
        mixing const facts(g);
        double const gap = facts.gap, rate = 1 - facts.rate(facts.best_gamma(.2), .2);
        CHECK(1 - rate > 5 * gap * gap * .2 / 82);  // the paper's
        std::vector<vec> old(6, vec(10));
        double first = 0, last = 0, average = 0;
        run_until(method, f, 400, [&](int k, auto const& now) {
            auto const mean = toys::mean_of(now.x);
            double e = 0;
            for (std::size_t i = 0; i < 6; ++i)
                e += toys::distance2(now.x[i], mean) + toys::distance2(now.x[i], now.known[i]);
            if (k == 1) first = e, average = mean[0];
            CHECK(e <= first * std::pow(rate, k - 1) * (1 + 1e-12));
            CHECK(std::abs(mean[0] - average) < 1e-14);
            last = e;
            return false;
        });
        CHECK(last > 0);
        for (auto const& each : f) each.calls = 0;
    }
}

TEST_CASE("CHOCO: with the default gamma ranks agree on every graph, far faster than is proved") {
    auto const f = pushes(16, 20);
    auto const falls = [&](auto method, graph const& g) {
        method.step = 1, method.over = g;
        double first = 0, last = 0;
        run_until<double, fibers>(method, f, 800, [&](int k, auto const& now) {
            auto const mean = toys::mean_of(now.x);
            last = 0;
            for (std::size_t i = 0; i < 16; ++i) last += toys::distance2(now.x[i], mean);
            if (k == 1) first = last;
            return false;
        });
        for (auto const& each : f) each.calls = 0;
        return last / first;
    };
    for (auto const& g : {graph::ring(16), graph::chain(16), graph::star(16, 0)}) {
        auto const by_default = falls(choco<top_k<>>{.compressor = {2}}, g);
        CHECK(by_default < .1);
        CHECK(falls(choco<scaled_sign>{}, g) < .6);  // delta is 1 / 20
        CHECK(by_default < falls(choco<top_k<>>{.compressor = {2}, .proved = true}, g) / 4);
    }
}

TEST_CASE("CHOCO: by default it comes near the optimum on every graph, far nearer than with what is proved" *
          doctest::test_suite("slow")) {
    auto const w = six_workers();
    problem p;
    for (auto const& each : w.f) {
        p.largest_smoothness = std::max(p.largest_smoothness, each.smoothness());
        p.least_strong_convexity = p.least_strong_convexity > 0
                                       ? std::min(p.least_strong_convexity, each.strong_convexity())
                                       : each.strong_convexity();
    }
    REQUIRE(p.least_strong_convexity > 0);
    double best = 0;
    for (auto const& each : w.f) best += each.value(w.best) / 6;
    for (auto const& g : {graph::ring(6), tree(), graph::star(6, 0)}) {
        auto const left = [&](auto method) {
            method.over = g;
            double error = 0;
            threads::run(6, [&](threads::member& comm) {
                vec x(4);
                auto run = method.template start<double>(p, w.f[std::size_t(comm.rank())], comm, std::span(x), 1);
                for (int k = 0; k < 1500; ++k) run.round();
                double own = 0;  // f at the model of rank 0, which is no mean
                for (auto const& each : w.f) own += each.value(run.x()) / 6;
                if (comm.rank() == 0) error = own;
            });
            return error;
        };
        double const by_default = left(choco<top_k<>>{.compressor = {1}});
        double const proved = left(choco<top_k<>>{.compressor = {1}, .proved = true});
        CHECK(by_default - best < .01);
        CHECK(proved - best > 3 * (by_default - best));
    }
}

TEST_CASE("CHOCO: with decreasing steps top_k reaches the optimum, with fewer bits than models in full") {
    auto const w = six_workers();
    auto const bits_to = [&](auto const& method) {
        std::uint64_t bits = 0;
        int const rounds = run_until(method, w.f, 20000, [&](int, auto const& now) {
            bits = now.all_sent().bits;
            return w.largest_error(now.x) < 1e-3;
        });
        CHECK(rounds > 0);
        return bits;
    };
    auto const sparse = bits_to(choco<top_k<>>{.compressor = {1}, .step = 1, .decrease = 5, .gamma = .6});
    auto const full = bits_to(choco<>{.step = 1, .decrease = 5, .gamma = 1});
    CHECK(sparse < full);
}

TEST_CASE("CHOCO: the step and gamma of the theorems, and what they need") {
    auto const w = six_workers();
    threads::run(6, [&](threads::member& comm) {
        auto const& f = w.f[std::size_t(comm.rank())];
        vec x(4);
        auto const start = [&](auto const& method, problem const& p) {
            return method.template start<double>(p, f, comm, std::span<double>(x), 1);
        };
        problem p;
        p.largest_smoothness = 2, p.least_strong_convexity = .1;
        auto const run = start(choco<top_k<>>{.compressor = {2}}, p);
        CHECK(run.gamma() == .5);  // delta
        CHECK(run.step() == doctest::Approx(1. / 8));
        auto const proved = start(choco<top_k<>>{.compressor = {2}, .proved = true}, p);
        mixing const ring(graph::ring(6));
        CHECK(proved.gamma() == ring.best_gamma(.5));
        CHECK(proved.step() == doctest::Approx(4 / (.1 * 5 / ring.rate(proved.gamma(), .5))));
        CHECK_THROWS_WITH_AS(start(choco<top_k<>>{.compressor = {2}, .gamma = 1, .proved = true}, p),
                             doctest::Contains("ranks are not known to agree"), theory_error);
        CHECK_THROWS_AS(start(choco<top_k<>>{.compressor = {2}}, problem{}), theory_error);
        CHECK_THROWS_AS(start(choco<rand_k<>>{.compressor = {2}, .step = 1}, p), theory_error);
        CHECK_THROWS_AS(start(choco<>{.step = -1}, p), argument_error);
        CHECK_THROWS_AS(start(choco<>{.step = 1, .gamma = 2}, p), argument_error);
        CHECK_THROWS_AS(start(choco<>{.step = 1, .gamma = 1, .over = graph::ring(4)}, p), argument_error);
        CHECK(to_string(choco<top_k<>>{.compressor = {.1}, .step = .5}) == "choco(top_k(0.1), step=0.5)");
    });
}

TEST_CASE("CHOCO over one edge sends what it counts") {
    auto const w = six_workers();
    run_until(choco<>{.step = .1, .gamma = .5, .over = tree()}, w.f, 10, [&](int k, auto const& now) {
        auto const rounds = static_cast<std::uint64_t>(k);
        CHECK(now.all_sent() == traffic{6 * rounds, rounds, 6 * 256 * rounds, 0, 0});
        CHECK(now.bytes[0] == 3 * 32 * rounds);
        CHECK(now.bytes[5] == 32 * rounds);
        return false;
    });
}

TEST_CASE("pairs: with the defaults both hold the mean of their results; with an odd number one rank is alone") {
    auto const w = six_workers();
    for (std::size_t const n : {2, 5, 6}) {
        std::vector<ridge<>> const f(w.f.begin(), w.f.begin() + std::ptrdiff_t(n));
        std::vector<vec> old(n, vec(4));
        std::set<std::pair<std::size_t, std::size_t>> met;
        run_until(pair_gossip{.step = .3, .local = 2}, f, 40, [&](int, auto const& now) {
            std::vector<vec> alone = old;
            for (std::size_t i = 0; i < n; ++i)
                for (int l = 0; l < 2; ++l) {
                    auto const g = gradient_of(f[i], alone[i]);
                    for (std::size_t j = 0; j < 4; ++j) alone[i][j] -= .3 * g[j];
                }
            std::size_t singles = 0;
            for (std::size_t i = 0; i < n; ++i) {
                std::size_t partner = i;
                for (std::size_t m = 0; m < n; ++m)
                    if (m != i && largest_gap({now.x[m]}, {now.x[i]}) < 1e-15) partner = m;
                singles += partner == i;
                met.insert({i, partner});
                for (std::size_t j = 0; j < 4; ++j)
                    CHECK(std::abs(now.x[i][j] - (alone[i][j] + alone[partner][j]) / 2) < 1e-15);
            }
            CHECK(singles == n % 2);
            old = now.x;
            return false;
        });
        CHECK(met.size() == (n == 2 ? 2 : n * (n - 1) + (n % 2) * n));  // everybody met everybody
    }
}

TEST_CASE(
    "pairs: with momentum and pull, the mean of the models follows slow momentum, and all come near the optimum") {
    auto const w = six_workers();
    pair_gossip const method{.step = .02, .local = 5, .momentum = .5, .outer = .7, .pull = .9};
    std::vector<vec> old(6, vec(4));
    vec velocity(4);
    double error = 0;
    run_until(method, w.f, 400, [&](int, auto const& now) {
        vec change(4);
        for (std::size_t i = 0; i < 6; ++i) {
            vec y = old[i];
            for (int l = 0; l < 5; ++l) {
                auto const g = gradient_of(w.f[i], y);
                for (std::size_t j = 0; j < 4; ++j) y[j] -= .02 * g[j];
            }
            for (std::size_t j = 0; j < 4; ++j) change[j] += (y[j] - old[i][j]) / 6;
        }
        auto const before = toys::mean_of(old), after = toys::mean_of(now.x);
        for (std::size_t j = 0; j < 4; ++j) {
            velocity[j] = .5 * velocity[j] + .7 * change[j];
            CHECK(std::abs(after[j] - before[j] - velocity[j]) < 1e-14);
        }
        old = now.x;
        error = w.largest_error(now.x);
        return false;
    });
    CHECK(error < .1);
    run_until(pair_gossip{.step = .3}, w.f, 10, [&](int k, auto const& now) {
        CHECK(now.all_sent() == traffic{6 * std::uint64_t(k), std::uint64_t(k), 6 * 512 * std::uint64_t(k), 0, 0});
        return false;
    });
}

TEST_CASE("pairs: each local step draws rows of its own") {
    auto const w = six_workers();
    threads::run(1, [&](threads::member& comm) {
        vec x(4), y(4), g(4);
        auto run = pair_gossip{.step = .1, .local = 3, .batch = 1}.start<double>(problem{}, w.f[0], comm,
                                                                                 std::span<double>(x), 6);
        run.round();
        for (std::uint64_t l = 0; l < 3; ++l) {
            auto const row = static_cast<std::uint32_t>(
                round_context::of(key{6}, 0, 0, 1).gradient.child(l).below(0, w.f[0].samples()));
            w.f[0].batch_gradient(std::span(&row, 1), y, g);
            for (std::size_t j = 0; j < 4; ++j) y[j] -= .1 * g[j];
        }
        CHECK(largest_gap({x}, {y}) < 1e-15);
    });
}

TEST_CASE("a gradient that is not finite on one rank is the same error on all, and nothing has changed") {
    auto const w = six_workers();
    auto const check = [&](auto const& method) {
        for (int const bad : {0, 5})
            threads::run(6, [&](threads::member& comm) {
                int const me = comm.rank();
                fails const f{w.f[std::size_t(me)], me == bad ? 3 : -1};
                vec x(4);
                auto run = method.template start<double>(problem{}, f, comm, std::span<double>(x), 2);
                for (int k = 0; k < 3; ++k) run.round();
                auto const before = run.save();
                try {
                    run.round();
                    CHECK(false);
                } catch (non_finite_error const& e) {
                    CHECK((e.rank == bad && e.round == 3 && e.coordinate == 2));
                }
                CHECK(run.save() == before);
                run.round();
                CHECK(run.rounds() == 4);
            });
    };
    check(choco<top_k<>>{.compressor = {2}, .step = .1, .gamma = .3, .over = tree()});
    check(pair_gossip{.step = .1});
}

TEST_CASE("a saved run goes on bit for bit") {
    auto const w = six_workers();
    auto const check = [&](auto const& method) {
        auto const start = [&](std::uint64_t seed) {
            return [&, seed](threads::member& comm, std::span<double> x) {
                return method.template start<double>(problem{}, w.f[std::size_t(comm.rank())], comm, x, seed);
            };
        };
        rounds::go_on_from_states(6, vec(4), 7, start(2), start(3));
    };
    check(choco<rand_k<>>{.compressor = {2}, .step = .1, .decrease = 9, .gamma = .1, .batch = 3, .over = tree()});
    check(pair_gossip{.step = .1, .local = 3, .momentum = .5, .batch = 2});
}
