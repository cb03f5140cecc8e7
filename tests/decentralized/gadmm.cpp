// SPDX-License-Identifier: Apache-2.0
// GADMM, D-GADMM, Q-GADMM and their kin: known numbers of independent programs, and the theorem.
#include "laconic/decentralized/gadmm.hpp"

#include "decentralized/networks.hpp"
#include "decentralized/stretched.hpp"
#include "decentralized/symmetric_grid.hpp"
#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"

using namespace networks;

// The papers' rho, for objectives that are means over w.rows rows.
template <class F>
gadmm chain_of(workers<F> const& w, double rho) {
    return {.rho = rho / w.rows};
}
auto close_by(double tolerance, auto const& w) {
    return [tolerance, &w](int, auto const& now) { return w.largest_error(now.known) < tolerance; };
}
void check_in(int rounds, int least, int most) {
    CHECK(rounds >= least);
    CHECK(rounds <= most);
}
int rounds_of(auto const& method, workers<stretched> const& w, std::uint64_t seed = 1) {
    return rounds_to_value<fibers>(method, w, 8000, seed);
}
bool about(int rounds, int expected) { return std::abs(rounds - expected) <= 2; }

TEST_CASE("T1.1: three iterations by hand") {
    auto const w = scalars({1, 2, 3, 6});
    vec const x[3] = {{1 / 2., 7 / 6., 1, 7 / 2.},
                      {1.41666667, 2.00925926, 3.44444444, 3.47222222},
                      {2.13425926, 2.46347737, 3.24691358, 3.35956790}};
    vec const lambda[3] = {
        {-2 / 3., 1 / 6., -5 / 2.}, {-1.25925926, -1.26851852, -2.52777778}, {-1.58847737, -2.05195473, -2.64043210}};
    vec end(3);
    int const rounds = run_until(gadmm{1}, w.f, 100, [&](int k, auto const& now) {
        double edge = 0;
        for (std::size_t n = 0; n < 3; ++n) {
            edge += now.dual[n][0];  // a_n = lambda_n - lambda_(n - 1)
            end[n] = edge;
            if (k <= 3) CHECK(edge == doctest::Approx(lambda[k - 1][n]).epsilon(1e-8));
        }
        for (std::size_t n = 0; n < 4 && k <= 3; ++n) CHECK(now.x[n][0] == doctest::Approx(x[k - 1][n]).epsilon(1e-8));
        return w.largest_error(now.x) < 1e-10;
    });
    CHECK(rounds == 43);
    CHECK(end[0] == doctest::Approx(-2).epsilon(1e-8));
    CHECK(end[1] == doctest::Approx(-3).epsilon(1e-8));
    CHECK(end[2] == doctest::Approx(-3).epsilon(1e-8));
}

TEST_CASE("DET6 is the data of the known numbers") {
    auto const w = six_workers();
    vec const best{-0.057736389575, -0.075322779672, 0.137868761553, 0.152527961002};
    for (std::size_t j = 0; j < 4; ++j) CHECK(std::abs(w.best[j] - best[j]) < 1e-11);
    CHECK(w.least == doctest::Approx(7.977236817871502).epsilon(1e-12));
    CHECK(w.f[0].data().labels[0] == doctest::Approx(0.3602956144842313).epsilon(1e-12));
}

TEST_CASE("T1.2: DET6, first values and iterations for each rho" * doctest::test_suite("slow")) {
    auto const w = six_workers();
    double const values[3] = {6.217786727771109, 7.1072511293819565, 7.382011186799381};
    double const first[4] = {-0.092084346615, 0.143668444448, 0.273202715211, 0.071756066812};
    run_until(chain_of(w, 1), w.f, 3, [&](int k, auto const& now) {
        CHECK(std::abs(w.sum(now.x) - values[k - 1]) < 1e-12);
        for (std::size_t j = 0; j < 4 && k == 1; ++j) CHECK(std::abs(now.x[0][j] - first[j]) < 1e-11);
        return false;
    });
    for (auto const& [rho, expected] : {std::pair{.1, 2026}, {.3, 680}, {1., 207}, {3., 66}, {10., 88}})
        CHECK(about(run_until(chain_of(w, rho), w.f, 3000, close_by(1e-8, w)), expected));
}

TEST_CASE("T1.4: DET6, Q-GADMM with deterministic rounding: iterations and bits") {
    auto const w = six_workers();
    CHECK(about(run_until(chain_of(w, 1), w.f, 1000, close_by(1e-6, w)), 147));
    auto const quantized = [&](int bits) {
        return ggadmm<symmetric_grid<rounding::nearest>>{.compressor = {bits}, .rho = 1 / w.rows};
    };
    for (auto const& [bits, expected, paper] :
         {std::tuple{2, 148, 35520}, {3, 148, 39072}, {4, 147, 42336}, {8, 147, 56448}}) {
        std::uint64_t sent = 0;
        int const rounds = run_until(quantized(bits), w.f, 1000, [&](int, auto const& now) {
            sent = now.all_sent().bits;
            return w.largest_error(now.known) < 1e-6;
        });
        CHECK(about(rounds, expected));
        // 32 + 4 bits a message, in whole bytes; the paper counts the bits.
        CHECK(sent == std::uint64_t(rounds) * 6 * std::uint64_t(32 + (4 * bits + 7) / 8 * 8));
        CHECK(std::abs(rounds * 6 * (32 + 4 * bits) - paper) <= 2 * 6 * (32 + 4 * bits));
    }
    double early = 0, late = 0;  // one bit diverges
    run_until(quantized(1), w.f, 5000, [&](int k, auto const& now) {
        (k <= 500 ? early : late) = w.largest_error(now.known);
        return false;
    });
    CHECK(early > 1e3);
    CHECK(late > 5 * early);
}

// D-GADMM by one thread, on quadratics: with a dual for each rank, which goes with it, or for each place in the chain.
double error_of_edge_duals(workers<ridge<>> const& w, double rho, std::vector<std::vector<int>> const& chains, int tau,
                           int rounds, bool by_place) {
    auto const n = w.f.size();
    Eigen::Index const d = static_cast<Eigen::Index>(w.best.size());
    std::vector<Eigen::MatrixXd> h(n);
    std::vector<Eigen::VectorXd> x(n, Eigen::VectorXd::Zero(d)), b = x, dual = x, edge(n + 1, x[0]);
    for (std::size_t i = 0; i < n; ++i) {
        w.f[i].hessian(detail::view(x[i]), h[i]);
        w.f[i].gradient(detail::view(x[i]), detail::view(b[i]));
    }
    double error = 0;
    for (int k = 1; k <= rounds; ++k) {
        auto const& order = chains[static_cast<std::size_t>(k / tau) % chains.size()];
        for (std::size_t side = 0; side < 2; ++side)
            for (std::size_t p = side; p < n; p += 2) {
                auto const i = static_cast<std::size_t>(order[p]);
                Eigen::VectorXd pull = by_place ? Eigen::VectorXd(edge[p + 1] - edge[p]) : dual[i];
                Eigen::MatrixXd a = h[i];
                for (std::size_t const q : {p - 1, p + 1})
                    if (q < n) pull -= rho * x[static_cast<std::size_t>(order[q])], a.diagonal().array() += rho;
                x[i] = solvers::solution(a, -b[i] - pull);
            }
        for (std::size_t p = 0; p + 1 < n; ++p) {
            auto const i = static_cast<std::size_t>(order[p]), j = static_cast<std::size_t>(order[p + 1]);
            Eigen::VectorXd const off = rho * (x[i] - x[j]);
            dual[i] += off, dual[j] -= off, edge[p + 1] += off;
        }
        error = 0;
        for (auto const& each : x) error = std::max(error, (each - toys::eigen(w.best)).cwiseAbs().maxCoeff());
    }
    return error;
}

TEST_CASE("T1.3: DET6, D-GADMM: iterations for each refresh; the duals of all ranks sum to 0") {
    auto const w = six_workers();
    std::vector<std::vector<int>> const chains{{0, 1, 2, 3, 4, 5}, {0, 3, 1, 5, 2, 4}, {0, 5, 4, 1, 3, 2}};
    for (auto const& [refresh, expected] : {std::pair{1, 74}, {2, 84}, {5, 95}, {10, 110}}) {
        int const tau = refresh;
        double worst = 0, error = 0;
        ggadmm<> const method{.rho = 1 / w.rows, .among = {.refresh = std::uint64_t(tau), .chains = chains}};
        int const rounds = run_until(method, w.f, 1000, [&](int k, auto const& now) {
            for (std::size_t j = 0; j < 4; ++j) {
                double sum = 0;
                for (auto const& each : now.dual) sum += each[j];
                worst = std::max(worst, std::abs(w.rows * sum));
            }
            error = w.largest_error(now.x);
            if (k == 20)
                CHECK(error ==
                      doctest::Approx(error_of_edge_duals(w, 1 / w.rows, chains, tau, 20, false)).epsilon(1e-9));
            return error < 1e-8;
        });
        CHECK(about(rounds, expected));
        CHECK(worst < 1e-13);
    }
    CHECK(error_of_edge_duals(w, 1 / w.rows, chains, 1, 3000, true) > .3);
}

TEST_CASE("T1.7: over the graph of its chain, GGADMM is GADMM, iterate for iterate") {
    auto const data = body_fat();
    if (!data) return;
    std::vector<graph::edge> edges;
    for (int r = 9; r > 0; --r) edges.emplace_back(r, r - 1);
    std::vector<std::vector<vec>> of_chain, of_graph;
    auto const into = [&](auto& all) {
        return [&](int, auto const& now) {
            all.push_back(now.x);
            return std::abs(data->sum(now.x) - data->least) < 1e-4;
        };
    };
    CHECK(run_until(chain_of(*data, 3), data->f, 300, into(of_chain)) == 160);
    ggadmm<> const general{.rho = 3 / data->rows, .among = {.over = graph(10, edges)}};
    CHECK(run_until(general, data->f, 300, into(of_graph)) == 160);
    CHECK(of_chain == of_graph);
}

TEST_CASE("1.9(a): Body Fat, iterations of GADMM and of star ADMM to 1e-4, and their cost in the authors' units") {
    auto const data = body_fat();
    if (!data) return;
    CHECK(data->least == doctest::Approx(1.7290099880892909).epsilon(1e-10));
    for (auto const& [rho, expected] : {std::pair{3, 160}, {5, 314}, {7, 544}}) {
        std::uint64_t cost = 0;
        int const rounds = run_until(chain_of(*data, rho), data->f, 2000, [&](int, auto const& now) {
            cost = now.all_sent().transmissions;
            return std::abs(data->sum(now.known) - data->least) < 1e-4;
        });
        CHECK(rounds == expected);
        CHECK(cost == std::uint64_t(expected) * 10);
    }
    for (auto const& [rho, expected] : {std::pair{1, 420}, {3, 269}, {5, 431}, {7, 596}})
        CHECK(rounds_to_value(gadmm{rho / data->rows, graph::star(10, 9)}, *data, 2000) == expected);
}

TEST_CASE(
    "1.10: Body Fat, GGADMM over the complete bipartite graph of 5 and 5 takes half the iterations of the chain") {
    auto const data = body_fat();
    if (!data) return;
    std::vector<graph::edge> edges;
    for (int head = 0; head < 10; head += 2)
        for (int tail = 1; tail < 10; tail += 2) edges.emplace_back(head, tail);
    CHECK(rounds_to_value(gadmm{.5 / data->rows, graph(10, edges)}, *data, 500) == 81);
}

TEST_CASE("1.9(f): Body Fat, Q-GADMM: iterations and bits in the paper's count") {
    auto const data = body_fat();
    if (!data) return;
    int const eight =
        rounds_to_value(ggadmm<symmetric_grid<rounding::random>>{.compressor = {8}, .rho = 3 / data->rows}, *data, 500);
    CHECK(about(eight, 160));
    CHECK(std::abs(eight * 10 * (32 + 8 * 14) - 230400) <= 2 * 1440);
    // Ours has a grid from the least change to the largest.
    CHECK(about(rounds_to_value(q_gadmm{3 / data->rows, 8}, *data, 500), 160));
    for (std::uint64_t const seed : {1, 2, 3}) {
        int const four = rounds_to_value(q_gadmm{3 / data->rows, 4}, *data, 500, seed);
        CHECK(four >= 150);
        CHECK(four <= 170);
    }
}

TEST_CASE("1.9(c): Derm, logistic regression, exact inner Newton: iterations to 1e-4") {
    auto const data = test_data("derm");
    if (!data) return;
    workers<logistic_regression<>> w{{}, 35, {}, 0};
    for (std::size_t i = 0; i < 10; ++i) w.f.emplace_back(data->slice(35 * i, 35 * (i + 1), "part"), 1e-5 / 35);
    w.best = find_optimum(logistic_regression<>(data->first(350), 1e-5 / 35), 0).x;
    w.least = w.sum(std::vector<vec>(10, w.best));
    CHECK(w.least == doctest::Approx(0.0081193446).epsilon(1e-8));
    CHECK(rounds_to_value(chain_of(w, .02), w, 400) == 314);
    CHECK(rounds_to_value(chain_of(w, .03), w, 500) == 453);
}

TEST_CASE("1.4: Body Fat, D-GADMM, rho 3 and a new chain every 10 iterations, takes some 250 iterations") {
    auto const data = body_fat();
    if (!data) return;
    for (std::uint64_t const seed : {1, 2, 3}) {
        int const rounds = rounds_to_value(d_gadmm{3 / data->rows, 10}, *data, 1000, seed);
        CHECK(rounds > 150);
        CHECK(rounds < 350);
    }
}

// Tables 1.9(b) and 1.9(d). The ranges are those of an independent program over 60 (b) or 16 (d) other draws of
// directions and positions; (d) with 2 % more on either side.
TEST_SUITE_BEGIN("slow");  // with the sanitizers

// Those of 60 draws; one of them, 101 rounds for rho = 7, stopped where the metric crossed 0.
TEST_CASE("1.9(b): 24 ranks, GADMM: iterations to 1e-4 for each rho") {
    for (std::uint64_t const seed : {1, 2, 3}) {
        auto const w = stretched_network(24, seed);
        if (!w) return;
        check_in(rounds_of(gadmm{3}, *w), 667, 1020);
        check_in(rounds_of(gadmm{5}, *w), 367, 571);
        check_in(rounds_of(gadmm{7}, *w), 220, 342);
    }
}

TEST_CASE("1.9(d): 24 ranks, D-GADMM, rho = 1: the more often the chain changes, the fewer iterations") {
    for (std::uint64_t const seed : {1, 2, 3}) {
        auto const w = stretched_network(24, seed);
        if (!w) return;
        check_in(rounds_of(d_gadmm{1, 1}, *w, seed), 239, 268);
        check_in(rounds_of(d_gadmm{1, 10}, *w, seed), 483, 551);
        check_in(rounds_of(d_gadmm{1, 50}, *w, seed), 884, 1085);
        check_in(rounds_of(gadmm{1, graph::star(24, 23)}, *w), 326, 367);
        if (seed == 1) check_in(rounds_of(gadmm{1}, *w), 2418, 3043);
    }
}

TEST_CASE("1.9(d): 50 ranks, D-GADMM, rho = 3: the more often the chain changes, the fewer iterations") {
    for (std::uint64_t const seed : {1, 2, 3}) {
        auto const w = stretched_network(50, seed);
        if (!w) return;
        check_in(rounds_of(d_gadmm{3, 1}, *w, seed), 170, 189);
        check_in(rounds_of(d_gadmm{3, 10}, *w, seed), 600, 645);
        if (seed == 1) check_in(rounds_of(gadmm{3}, *w), 3765, 5009);
    }
}

TEST_SUITE_END();
