// SPDX-License-Identifier: Apache-2.0
// The loop of GADMM: its theorem in every round, what it sends, censoring, balanced residuals, inexact solves, errors
// on all ranks alike, and states.
#include "laconic/decentralized/gadmm_loop.hpp"

#include "decentralized/networks.hpp"
#include "support/error_of.hpp"
#include "support/everything.hpp"
#include "support/rounds.hpp"

using namespace networks;

vec plus(vec a, double s, vec const& b) {
    for (std::size_t j = 0; j < a.size(); ++j) a[j] += s * b[j];
    return a;
}
double largest(vec const& a) {
    double most = 0;
    for (double const v : a) most = std::max(most, std::abs(v));
    return most;
}

TEST_CASE("T1.5: the Lyapunov function falls by what the theorem says, and both stationarity identities hold") {
    auto const data = body_fat();
    if (!data) return;
    double const rho = 3 / data->rows;
    std::size_t const n = data->f.size();
    std::vector<vec> best_edge(n - 1), slopes(n);  // lambda*
    vec sum(14);
    for (std::size_t i = 0; i < n; ++i) {
        slopes[i] = gradient_of(data->f[i], data->best);
        sum = plus(sum, -1, slopes[i]);
        if (i + 1 < n) best_edge[i] = sum;
    }
    auto const lyapunov = [&](auto const& now) {
        double v = 0;
        vec edge(14);
        for (std::size_t i = 0; i + 1 < n; ++i) {
            edge = plus(edge, 1, now.dual[i]);
            v += toys::distance2(edge, best_edge[i]) / rho;
            v += rho * toys::distance2(now.x[i + (i + 1) % 2], data->best);  // the tail of edge (i, i + 1)
        }
        return v;
    };
    double slack = std::numeric_limits<double>::infinity(), stationary = 0, residual = 0, primal = 0;
    std::vector<vec> old(n, vec(14));
    double v = 0;
    run_until(gadmm{rho}, data->f, 300, [&](int k, auto const& now) {
        double moved = 0, apart = 0;
        for (std::size_t i = 0; i + 1 < n; ++i) {
            auto const tail = i + (i + 1) % 2;
            apart += toys::distance2(now.x[i], now.x[i + 1]);
            moved += toys::distance2(now.x[tail], old[tail]);
        }
        for (std::size_t i = 0; i < n; ++i) {
            vec expected(14);
            double around = 0;
            for (std::size_t const m : {i - 1, i + 1}) {
                if (m >= n) continue;
                around += toys::distance2(now.x[i], now.x[m]);
                if (i % 2 == 0) expected = plus(plus(expected, rho, old[m]), -rho, now.x[m]);
            }
            auto const left = plus(gradient_of(data->f[i], now.x[i]), 1, now.dual[i]);
            stationary = std::max(stationary, largest(plus(left, -1, expected)));
            residual = std::max(residual, std::abs(now.residual[i] - std::sqrt(toys::norm2(expected))));
            primal = std::max(primal, std::abs(now.primal[i] - std::sqrt(around)));
        }
        double const next = lyapunov(now);
        if (k > 1) slack = std::min(slack, (v - next - rho * apart - rho * moved) * data->rows);
        v = next;
        old = now.x;
        return false;
    });
    CHECK(slack > 1e-3);
    CHECK(stationary < 1e-12);
    CHECK(residual < 1e-12);
    CHECK(primal < 1e-12);
}

TEST_CASE("T1.6: transmissions are N k, slots 2 k, bits 32 d N k, and metered counts each neighbour") {
    auto const w = six_workers();
    std::vector<ridge<float>> f;
    for (auto const& each : w.f) {
        dataset<float> data{"float", each.data().rows.cast<float>(), {}};
        for (double const y : each.data().labels) data.labels.push_back(static_cast<float>(y));
        f.emplace_back(data, 0);
    }
    run_until<float>(gadmm{1 / w.rows}, f, 50, [&](int k, auto const& now) {
        auto const all = now.all_sent();
        auto const rounds = static_cast<std::uint64_t>(k);
        CHECK(all == traffic{6 * rounds, 2 * rounds, 32 * 4 * 6 * rounds, 0, 0});
        std::uint64_t bytes = 0;
        for (auto const each : now.bytes) bytes += each;
        CHECK(bytes == 2 * 5 * 4 * 4 * rounds);
        if (k == 50) CHECK(std::abs(now.x[0][0] - w.best[0]) < 1e-2);
        return false;
    });
}

TEST_CASE("a new chain costs each rank with new neighbours its model in full, once") {
    auto const w = six_workers();
    std::vector<std::vector<int>> const chains{{0, 1, 2, 3, 4, 5}, {0, 1, 2, 5, 4, 3}};
    ggadmm<> const method{.rho = 1 / w.rows, .among = {.refresh = 3, .chains = chains}};
    run_until(method, w.f, 7, [&](int k, auto const& now) {
        // Before iterations 3 and 6, one edge changes: 2-3 and 2-5. Iteration 1 has no new graph.
        std::uint64_t const news = k < 3 ? 0 : k < 6 ? 1 : 2, rounds = static_cast<std::uint64_t>(k);
        auto const all = now.all_sent();
        CHECK(all.refreshes == news);
        CHECK(all.refresh_bits == news * 64 * 4 * (k < 3 ? 0 : 2));
        CHECK(all.transmissions == 6 * rounds + 2 * news);
        CHECK(all.slot_count == 2 * rounds + 2 * news);
        CHECK(all.bits == 64 * 4 * 6 * rounds + all.refresh_bits);
        return false;
    });
}

TEST_CASE("chains that are drawn anew reach the optimum, and the sum of the duals stays 0") {
    auto const w = six_workers();
    for (auto const how : {chain_by::nearest, chain_by::greedy}) {
        double dual = 0;
        int const rounds = run_until(d_gadmm{1 / w.rows, 5, how}, w.f, 400, [&](int, auto const& now) {
            vec sum(4);
            for (auto const& each : now.dual) sum = plus(sum, 1, each);
            dual = std::max(dual, largest(sum));
            return w.largest_error(now.x) < 1e-8;
        });
        CHECK(rounds > 20);
        CHECK(rounds < 207);  // of the chain that never changes
        CHECK(dual < 1e-14);
    }
}

TEST_CASE("C-GGADMM: a rank that has little to say is silent, and the run still reaches the optimum") {
    auto const w = six_workers();
    ggadmm<uniform<>> method{.compressor = {4}, .rho = 3 / w.rows};
    auto const transmissions = [&](auto const& how, int& rounds) {
        std::uint64_t sent = 0;
        rounds = run_until(how, w.f, 500, [&](int, auto const& now) {
            sent = now.all_sent().transmissions;
            CHECK(now.bytes[1] * 8 == 2 * now.sent[1].bits);
            return w.largest_error(now.known) < 1e-6;
        });
        return sent;
    };
    int plain = 0, censored = 0;
    auto const all = transmissions(method, plain);
    method.censor = .5, method.censor_decay = .9;
    auto const fewer = transmissions(method, censored);
    CHECK(all == 6 * std::uint64_t(plain));
    CHECK(fewer < 6 * std::uint64_t(censored) * 9 / 10);
}

TEST_CASE("C-GGADMM: a change is sent in iteration k iff it is at least censor decay^k long") {
    auto const w = six_workers();
    ggadmm<> const method{.rho = 1 / w.rows, .censor = .5, .censor_decay = .8};
    std::vector<vec> old(6, vec(4));
    std::vector<std::uint64_t> before(6);
    int sent = 0, silent = 0;
    double nearest = 9;  // of what was sent, in units of the bound
    run_until(method, w.f, 60, [&](int k, auto const& now) {
        double const least = .5 * std::pow(.8, k);
        for (std::size_t i = 0; i < 6; ++i) {
            double const change = std::sqrt(toys::distance2(now.x[i], old[i]));
            bool const has_sent = now.sent[i].transmissions > before[i];
            CHECK(has_sent == (change >= least));
            if (!has_sent) CHECK(now.known[i] == old[i]);
            (has_sent ? sent : silent)++;
            if (has_sent) nearest = std::min(nearest, change / least);
            before[i] = now.sent[i].transmissions;
        }
        old = now.known;
        return false;
    });
    CHECK(sent > 20);
    CHECK(silent > 20);
    CHECK(nearest < 1.25);
}

TEST_CASE("rho doubles and halves by the residuals of all ranks") {
    auto const w = six_workers();
    int doubled = 0, halved = 0, kept = 0;
    for (double const rho : {.01, 100.}) {
        double last = rho / w.rows;
        run_until(ggadmm<>{.rho = last, .balance = 5}, w.f, 60, [&](int, auto const& now) {
            double primal = 0, dual = 0;
            for (std::size_t i = 0; i < 6; ++i) {
                primal += now.primal[i] * now.primal[i] / 2, dual += now.residual[i] * now.residual[i];
                CHECK(now.rho[i] == now.rho[0]);
            }
            double const ratio = std::sqrt(primal / dual);
            CHECK(now.rho[0] == (ratio > 5 ? 2 * last : ratio < .2 ? last / 2 : last));
            (now.rho[0] > last ? doubled : now.rho[0] < last ? halved : kept)++;
            last = now.rho[0];
            return false;
        });
    }
    CHECK((doubled > 2 && halved > 2 && kept > 10));
}

TEST_CASE("with balanced residuals a bad rho becomes a good one, the same on all ranks") {
    auto const w = six_workers();
    for (double const rho : {.01, 100.}) {
        ggadmm<> method{.rho = rho / w.rows};
        int const plain =
            run_until(method, w.f, 3000, [&](int, auto const& now) { return w.largest_error(now.x) < 1e-6; });
        method.balance = 10;
        int const balanced =
            run_until(method, w.f, 3000, [&](int, auto const& now) { return w.largest_error(now.x) < 1e-6; });
        CHECK(balanced > 0);
        CHECK((plain < 0 || balanced < plain / 3));
    }
}

TEST_CASE("SGADMM: of one rank alone, its rounds are steps of Adam, one after the other") {
    auto const w = six_workers();
    threads::run(1, [&](threads::member& comm) {
        vec x(4), y(4), g(4);
        auto run = sgadmm(1, .01, {3, .02, 0}).start<double>(problem{}, w.f[0], comm, std::span<double>(x), 1);
        adam<> step(.02);
        host on;
        for (int k = 0; k < 12; ++k) {
            if (k % 3 == 0) run.round();
            w.f[0].gradient(y, g);
            step(on, std::span(y), std::span(g));
            if (k % 3 == 2) CHECK(largest(plus(x, -1, y)) < 1e-15);
        }
    });
}

TEST_CASE("SGADMM: steps of Adam on batches lower the mean loss of a perceptron, and ranks come together") {
    auto data = test_data("ionosphere");
    if (!data) return;
    std::vector<perceptron<>> f;
    for (std::size_t i = 0; i < 4; ++i) f.emplace_back(data->part(i, 4), 6, 1e-3, classes(*data));
    consensus_report first, last;
    threads::run(4, [&](threads::member& comm) {
        auto const& mine = f[static_cast<std::size_t>(comm.rank())];
        vec x(mine.dimension());
        for (std::size_t j = 0; j < x.size(); ++j) x[j] = .6 * (key{3}.uniform(j) - .5);
        auto run = sgadmm(.1, .05, {10, 5e-3, 20}).start<double>(problem{}, mine, comm, std::span<double>(x), 4);
        auto const begin = report_consensus(mine, run.x(), comm);
        for (int k = 0; k < 150; ++k) run.round();
        auto const end = report_consensus(mine, run.x(), comm);
        if (comm.rank() == 0) first = begin, last = end;
    });
    CHECK(first.distance == 0);
    CHECK(last.value_at_mean < first.value_at_mean / 3);
}

TEST_CASE("a solution that is not finite on one rank is the same error on all, and nothing has changed") {
    auto const w = six_workers();
    for (bool const throws : {false, true})
        for (int const bad : {0, 3, 5})
            threads::run(6, [&](threads::member& comm) {
                int const me = comm.rank();
                fails const f{w.f[std::size_t(me)], me == bad ? 4 : -1, throws};
                vec x(4), y(4);
                // The round that fails is one with a new chain.
                ggadmm<uniform<>> const method{.compressor = {6}, .rho = 1 / w.rows, .among = {.refresh = 5}};
                auto run = method.start<double>(problem{}, f, comm, std::span<double>(x), 7);
                for (int k = 0; k < 4; ++k) run.round();
                auto const before = run.save();
                try {
                    run.round();
                    CHECK(false);
                } catch (non_finite_error const& e) {
                    CHECK((!throws && e.rank == bad && e.round == 4 && e.coordinate == 2));
                } catch (compression_error const& e) {
                    CHECK((throws && e.rank == bad && e.round == 4 && e.why == "no gradient today"));
                }
                CHECK(run.save() == before);
                for (int k = 0; k < 5; ++k) run.round();  // goes on as one that never failed
                auto other = method.start<double>(problem{}, w.f[std::size_t(me)], comm, std::span<double>(y), 7);
                for (int k = 0; k < 9; ++k) other.round();
                CHECK(x == y);
            });
}

// Logistic-like and convex, but on one rank the value is NaN.
struct value_of_nobody {
    bool bad;
    std::size_t dimension() const { return 1; }
    double value(std::span<double const> x) const {
        return bad ? std::numeric_limits<double>::quiet_NaN() : std::log1p(std::exp(x[0]));
    }
    void gradient(std::span<double const> x, std::span<double> g) const { g[0] = 1 / (1 + std::exp(-x[0])); }
    void hessian(std::span<double const> x, Eigen::MatrixXd& h) const {
        h.setConstant(1, 1, 1 / (2 + std::exp(x[0]) + std::exp(-x[0])));
    }
};

TEST_CASE("a value that is not finite on one rank is the same error on all, and x does not stand still in silence") {
    threads::run(4, [&](threads::member& comm) {
        value_of_nobody const f{comm.rank() == 2};
        vec x(1);
        auto run = gadmm{}.start<double>(problem{}, f, comm, std::span<double>(x), 7);
        try {
            run.round();
            CHECK(false);
        } catch (compression_error const& e) {
            CHECK(e.rank == 2);
            CHECK(e.why == "the value of the local objective is not finite");
        }
    });
}

struct far {  // (x - at)^2 / 2
    double at;
    static constexpr bool constant_hessian = true;
    std::size_t dimension() const { return 1; }
    double value(std::span<double const>) const { return 0; }
    void gradient(std::span<double const> x, std::span<double> g) const { g[0] = x[0] - at; }
    void hessian(std::span<double const>, Eigen::MatrixXd& h) const { h.setIdentity(1, 1); }
};

TEST_CASE("residuals are known beyond the range of their squares") {
    for (double const scale : {1e-170, 1., 1e200})
        threads::run(2, [&](threads::member& comm) {
            far const f{comm.rank() == 0 ? scale : -scale};
            vec x(1);
            ggadmm<> const method{.balance = 2};
            auto run = method.start<double>(problem{}, f, comm, std::span<double>(x), 7);
            run.round();
            CHECK(run.primal_residual() / scale == doctest::Approx(.75).epsilon(1e-12));
            for (int k = 0; k < 100; ++k) run.round();
            CHECK(std::abs(x[0]) < 1e-6 * scale);
        });
}

TEST_CASE("a saved run goes on bit for bit, also in the middle of a chain's time") {
    auto const w = six_workers();
    auto const goes_on = [&](auto const& method) {
        auto const by = [&](auto const& how) {
            return [&](threads::member& comm, std::span<double> x) {
                return how.template start<double>(problem{}, w.f[std::size_t(comm.rank())], comm, x, 3);
            };
        };
        rounds::go_on_from_states(6, vec(4), 8, by(method), by(gadmm{2}));
    };
    goes_on(gadmm{1 / w.rows});
    goes_on(d_gadmm{1 / w.rows, 3});
    goes_on(ggadmm<uniform<>>{.compressor = {3}, .rho = 1 / w.rows, .censor = .1, .among = {.refresh = 3}});
    goes_on(ggadmm<top_k<>, adam_steps>{.compressor = {2}, .rho = 1 / w.rows, .balance = 2, .solver = {5, .01, 3}});
}

TEST_CASE("wrong graphs and parameters are refused, by name, on every rank") {
    auto const w = six_workers();
    auto const refusal = [&](auto const& method) {
        std::string why;
        threads::run(6, [&](threads::member& comm) {
            vec x(4);
            auto const text = error_of<argument_error>([&] {
                method.template start<double>(problem{}, w.f[std::size_t(comm.rank())], comm, std::span<double>(x), 1);
            });
            if (comm.rank() == 5) why = text;
        });
        return why;
    };
    CHECK(refusal(gadmm{1, graph(6, {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}, {4, 5}})}) ==
          "the graph is not bipartite: it has the odd cycle 0-1-2-0, and heads need tails");
    CHECK(refusal(gadmm{1, graph::chain(5)}) == "a graph of 5 ranks, among 6");
    CHECK(refusal(gadmm{0}) == "ggadmm: rho = 0 is outside 1e-12 .. 1e+12");
    CHECK(refusal(ggadmm<>{.dual_step = 2}) == "ggadmm: dual_step = 2 is outside 1e-12 .. 1.618");
    CHECK(refusal(ggadmm<>{.censor = -1}) == "ggadmm: censor = -1 is outside 0 .. 1e+12");
    CHECK(refusal(ggadmm<>{.censor_decay = 2}) == "ggadmm: censor_decay = 2 is outside 0 .. 1");
    CHECK(refusal(ggadmm<>{.balance = -1}) == "ggadmm: balance = -1 is outside 0 .. 1e+12");
    CHECK(refusal(ggadmm<>{.among = {.over = graph::chain(6), .refresh = 2}}) ==
          "a topology has either one graph or chains that are refreshed");
    CHECK(refusal(ggadmm<>{.among = {.refresh = 2, .chains = {{0, 1, 2}}}}) == "a chain of 3 ranks, among 6");
    CHECK(refusal(q_gadmm{1, 9}) != "nothing");
}

TEST_CASE("ranks that disagree throw the same error") {
    auto const w = six_workers();
    threads::run(6, [&](threads::member& comm) {
        vec x(4);
        int const me = comm.rank();
        auto const start = [&](gadmm const& how) {
            how.start<double>(problem{}, w.f[std::size_t(me)], comm, std::span<double>(x), 1);
        };
        CHECK_THROWS_WITH_AS(start({me == 4 ? 2. : 1.}),
                             "ranks disagree: rank 0 has \"the method: ggadmm(rho=1)\", rank 4 has \"the "
                             "method: ggadmm(rho=2)\"",
                             agreement_error);
        CHECK_THROWS_AS(start({1, me == 4 ? graph::ring(6) : graph::chain(6)}), agreement_error);
        if (me == 2) x[0] = 1;
        CHECK_THROWS_AS(start({1}), agreement_error);
    });
}

TEST_CASE("one rank alone minimises its own objective") {
    auto const w = six_workers();
    threads::run(1, [&](threads::member& comm) {
        vec x(4);
        auto run = gadmm{1}.start<double>(problem{}, w.f[0], comm, std::span<double>(x), 1);
        CHECK(run.look().value() == w.f[0].value(vec(4)));
        run.round();
        CHECK(largest(gradient_of(w.f[0], x)) < 1e-14);
        CHECK(run.sent().transmissions == 0);
    });
}
