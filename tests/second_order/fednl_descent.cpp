// SPDX-License-Identifier: Apache-2.0
// The shift's rate is that of the compressor's theorem, or the one that is given.
#include "laconic/second_order/fednl_descent.hpp"

#include <numbers>

#include "support/data.hpp"
#include "support/det6.hpp"
#include "support/everything.hpp"
#include "support/rounds.hpp"
#include "support/solvers.hpp"

static_assert(Reduction<shift_at_rate<top_k<>>, double>);

TEST_CASE("shift_at_rate: 1 for a contractive compressor, 1 / (1 + omega) for an unbiased one, or as given") {
    CHECK(shift_at_rate<top_k<>>{{2}}.rate(8) == 1);
    CHECK(shift_at_rate<rand_k<>>{{2}}.rate(8) == doctest::Approx(2 / 8.).epsilon(1e-15));
    CHECK(shift_at_rate<rand_k<>>{{2}, .125}.rate(8) == .125);
    CHECK(shift_at_rate<rand_k<>>{{2}}.feedback<double, host>(8).rate() == doctest::Approx(.25));
    CHECK(to_string(shift_at_rate<rand_k<>>{{2}, .125}) == "shift_at_rate(rand_k(2), alpha=0.125, over=gather)");
}

// FedNL on real data reaches the optimum of optima.json superlinearly, learns the Hessians, sends what it says, and
// what one rank gets wrong all ranks throw.

using logistic = logistic_regression<>;

std::optional<std::vector<logistic>> workers_on(std::string const& name, std::size_t n, double lambda) {
    auto data = test_data(name);
    if (!data) return std::nullopt;
    binary_labels(*data);
    *data = data->first(data->samples() / n * n);  // as optima.json has it
    std::vector<logistic> f;
    for (std::size_t r = 0; r < n; ++r) f.emplace_back(data->part(r, n), lambda);
    return f;
}
template <class F>
double mean_value(std::vector<F> const& f, std::span<double const> x) {
    double sum = 0;
    for (auto const& each : f) sum += each.value(x) / double(f.size());
    return sum;
}
template <class F>
double mean_gradient_norm(std::vector<F> const& f, std::span<double const> x) {
    std::vector<double> g(x.size()), one(x.size());
    for (auto const& each : f) {
        each.gradient(x, one);
        for (std::size_t i = 0; i < g.size(); ++i) g[i] += one[i] / double(f.size());
    }
    return std::sqrt(std::inner_product(g.begin(), g.end(), g.begin(), 0.));
}
template <class F>
Eigen::MatrixXd mean_hessian(std::vector<F> const& f, std::span<double const> x) {
    Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(Eigen::Index(x.size()), Eigen::Index(x.size())), one;
    for (auto const& each : f) {
        each.hessian(x, one);
        sum += one / double(f.size());
    }
    return sum;
}

// What rank 0 sees of a run until the mean gradient is below `goal`: the gradient's norm before each round, the bytes
// that it sent in it, and at the end x, and how far the learned Hessian is from the true one.
struct newton_run {
    std::vector<double> norms, x;
    std::vector<std::uint64_t> sent;
    double hessian_error = 0, distance = 0;
};
template <class M, class F>
newton_run run_newton(M const& method, std::vector<F> const& f, double goal, std::size_t most, double at = 0) {
    newton_run seen;
    std::vector<std::vector<double>> ends(f.size());
    threads::run(int(f.size()), [&](threads::member& comm) {
        metered wire(comm);
        auto const& mine = f[std::size_t(comm.rank())];
        std::vector<double> x(mine.dimension(), at);
        auto const p = agree_on_problem(comm, mine);
        auto run = method.template start<double>(p, mine, wire, std::span<double>(x), 2);
        for (std::size_t k = 0; k < most; ++k) {
            double const norm = mean_gradient_norm(f, x);
            if (comm.rank() == 0) seen.norms.push_back(norm);
            if (norm < goal) break;
            auto const sent = wire.bytes_sent();
            auto const before = x;
            run.round();
            if (comm.rank() != 0) continue;
            seen.sent.push_back(wire.bytes_sent() - sent);
            seen.hessian_error = (run.learned() - mean_hessian(f, before)).norm();
            seen.distance = run.distance();
        }
        ends[std::size_t(comm.rank())] = x;
    });
    for (auto const& x : ends) CHECK(x == ends[0]);
    seen.x = ends[0];
    return seen;
}

TEST_CASE("FedNL reaches the optimum of ionosphere, superlinearly, with each kind of compressor") {
    auto const f = workers_on("ionosphere", 10, 1e-3);
    if (!f) return;
    auto const check = [&](auto const& method, std::size_t most) {
        CAPTURE(to_string(method));
        auto const run = run_newton(method, *f, 1e-13, most);
        REQUIRE(run.norms.back() < 1e-13);
        CHECK(mean_value(*f, run.x) == doctest::Approx(0.321074725609338).epsilon(1e-14));
        // H_i -> the Hessian: what is learned is right, and says so.
        CHECK(run.hessian_error < 1e-4);
        CHECK(run.distance < 1e-3);
        // The factors by which the gradient falls go to 0: the last are well below the earlier ones.
        auto const n = run.norms.size();
        double const last = run.norms[n - 2] / run.norms[n - 3], early = run.norms[n / 2] / run.norms[n / 2 - 1];
        CHECK(last < .1);
        CHECK(last < early / 2);
        MESSAGE(to_string(method) << ": " << n - 1 << " rounds");
    };
    check(fednl<top_k<>>{.compressor = {272}}, 60);
    check(fednl<top_k<>>{.compressor = {272}, .start_in_full = false}, 80);
    check(fednl<top_k<>>{.compressor = {272}, .fresh = false}, 80);
    check(fednl<rand_k<>>{.compressor = {272}}, 120);
    check(fednl<natural>{}, 80);
    check(fednl<low_rank<>>{.compressor = {34, 2}, .as = symmetric_as::whole}, 80);
}

// Rounds from zeros by a projection, on ten workers; what stops them.
struct projected_run {
    std::string error;
    std::vector<double> x;
    std::uint64_t rounds = 0;
};
projected_run projected(std::vector<logistic> const& f, std::size_t k, bool line_search, std::uint64_t most,
                        double at = 0) {
    projected_run seen;
    std::vector<std::string> errors(f.size());
    fednl<top_k<>> const method{
        .compressor = {k}, .definite = definite_by::projection, .start_in_full = false, .line_search = line_search};
    threads::run(int(f.size()), [&](threads::member& comm) {
        auto const& mine = f[std::size_t(comm.rank())];
        std::vector<double> x(mine.dimension(), at);
        auto const p = agree_on_problem(comm, mine);
        auto run = method.start<double>(p, mine, comm, std::span<double>(x), 2);
        auto before = x;
        try {
            while (run.rounds() < most) before = x, run.round();
        } catch (divergence_error const& e) {
            errors[std::size_t(comm.rank())] = e.what();
            CHECK(x == before);
            CHECK(e.round + 1 == run.rounds());
        }
        if (comm.rank() == 0) seen.x = x, seen.rounds = run.rounds();
    });
    for (auto const& e : errors) CHECK(e == errors[0]);
    seen.error = errors[0];
    return seen;
}

TEST_CASE("from zeros by a projection FedNL diverges and says so, and with a line search it reaches the optimum") {
    // lambda = 1e-3, ten workers; the values are those of optima.json
    struct real_set {
        char const* name;
        std::size_t k;
        std::uint64_t rounds;
        double best;
    };
    for (auto const& set :
         {real_set{"heart_scale", 13, 25, 0.35564669241206875}, real_set{"ionosphere", 272, 25, 0.321074725609338},
          real_set{"splice", 480, 45, 0.3648878549937356}}) {
        auto const* const name = set.name;
        auto const k = set.k;
        double const best = set.best;
        auto const f = workers_on(name, 10, 1e-3);
        if (!f) return;
        CAPTURE(name);
        auto const alone = projected(*f, k, false, 100);
        CHECK(alone.rounds < 25);
        CHECK(alone.error.find("outside the region in which FedNL converges: take line_search = yes") !=
              std::string::npos);
        auto const searched = projected(*f, k, true, set.rounds);
        CHECK(searched.error.empty());
        CHECK(mean_value(*f, searched.x) == doctest::Approx(best).epsilon(1e-13));
        if (k != 13) continue;
        auto const from_far = projected(*f, k, true, 60, 30);
        CHECK(mean_value(*f, from_far.x) == doctest::Approx(best).epsilon(1e-13));
        // At the optimum only rounding is left, and that is no divergence.
        threads::run(10, [&](threads::member& comm) {
            auto const& mine = (*f)[std::size_t(comm.rank())];
            auto x = searched.x;
            fednl<top_k<>> const method{.compressor = {k}, .start_in_full = false};
            auto run = method.start<double>(problem{}, mine, comm, std::span<double>(x), 2);
            for (int n = 0; n < 40; ++n) run.round();
            CHECK(mean_value(*f, x) == doctest::Approx(best).epsilon(1e-13));
        });
    }
}

TEST_CASE("with a line search f falls in every round, by a quarter of the slope at least") {
    auto const f = workers_on("heart_scale", 3, 1e-3);
    if (!f) return;
    threads::run(3, [&](threads::member& comm) {
        metered wire(comm);
        auto const& mine = (*f)[std::size_t(comm.rank())];
        std::vector<double> x(13, 5.);
        fednl<top_k<>> const method{.compressor = {20},
                                    .definite = definite_by::projection,
                                    .mu = 1e-3,
                                    .fresh = false,
                                    .start_in_full = false,
                                    .line_search = true};
        auto run = method.start<double>(problem{}, mine, wire, std::span<double>(x), 2);
        for (int k = 0; k < 12; ++k) {
            auto const before = x;
            std::vector<double> g(13), one(13), step(13);
            run.round();
            for (auto const& each : *f) {
                each.gradient(before, one);
                for (std::size_t j = 0; j < 13; ++j) g[j] += one[j] / 3;
            }
            // The move is a step along the direction, halved some times.
            auto direction = g;
            newton_step solve;
            solve(run.learned(), definite_by::projection, 1e-3, direction);
            double slope = 0, share = (before[0] - x[0]) / direction[0];
            for (std::size_t j = 0; j < 13; ++j) {
                slope += g[j] * direction[j];
                CHECK(before[j] - x[j] == doctest::Approx(share * direction[j]).epsilon(1e-6));
            }
            double const value = mean_value(*f, before);
            CHECK(mean_value(*f, x) <= value - share * slope / 4 + 1e-14);
            CHECK(std::abs(std::log2(share) - std::round(std::log2(share))) < 1e-6);
            std::vector<double> longer(13);
            for (std::size_t j = 0; j < 13; ++j) longer[j] = before[j] - 2 * share * direction[j];
            if (share < .9) CHECK(mean_value(*f, longer) > value - 2 * share * slope / 4 - 1e-14);
        }
    });
}

TEST_CASE("FedNL reaches the optimum of a9a" * doctest::test_suite("slow")) {
    auto const f = workers_on("a9a", 10, 1e-3);
    if (!f) return;
    auto const run = run_newton(fednl<top_k<>>{.compressor = {8 * 123}}, *f, 1e-10, 60);
    CHECK(run.norms.back() < 1e-10);
    CHECK(mean_value(*f, run.x) == doctest::Approx(0.3333472060757055).epsilon(1e-13));
    MESSAGE(run.sent.size() << " rounds, " << std::accumulate(run.sent.begin(), run.sent.end(), std::uint64_t(0))
                            << " bytes from a rank");
}

std::vector<det6::objective> det6_workers() {
    std::vector<det6::objective> f;
    for (auto const& p : det6::parts()) f.push_back(det6::objective::of(p));
    return f;
}
dataset<> two_rows() {
    return {"two", Eigen::MatrixXd{{1, 0}, {0, 2}}.sparseView(), {-1, 1}};
}
double distance(std::vector<double> const& x, Eigen::VectorXd const& y) {
    return (Eigen::Map<Eigen::VectorXd const>(x.data(), y.size()) - y).norm();
}

TEST_CASE("DET6: from Hessians in full, one round is Newton's step and solves the quadratic") {
    auto const f = det6_workers();
    Eigen::Vector4d const best(-.057736389575, -.075322779672, .137868761553, .152527961002);
    for (auto const definite : {definite_by::lift, definite_by::projection}) {
        auto const run = run_newton(fednl<top_k<>>{.compressor = {1}, .definite = definite, .mu = 1e-3}, f, 0, 1);
        CHECK(distance(run.x, best) < 1e-11);
        CHECK(run.hessian_error < 1e-14);
        // 4 numbers of the gradient, 10 of the Hessian; with a lift one of the distance; and what is left of the
        // Hessian, which is nothing: the number of a term of 10, half a byte, and its value. Both reductions compare 24
        // bytes.
        CHECK(run.sent[0] <= 8 * (4 + 10 + (definite == definite_by::lift ? 1 : 0)) + 2 * 24 + 9);
    }
}

TEST_CASE("DET6: the first step from zeros, lifted by the mean distance or projected, by hand") {
    auto const f = det6_workers();
    auto const all = det6::objective::of_all();
    double lift = 0;
    for (auto const& each : f) lift += each.h.norm() / 6;
    auto const run = run_newton(fednl<top_k<>>{.compressor = {3}, .fresh = false, .start_in_full = false}, f, 0, 1);
    CHECK(run.distance == doctest::Approx(lift).epsilon(1e-14));
    CHECK(distance(run.x, all.c / 6 / lift) < 1e-14);
    auto const raised = run_newton(
        fednl<top_k<>>{
            .compressor = {3}, .definite = definite_by::projection, .mu = 5, .fresh = false, .start_in_full = false},
        f, 0, 1);
    CHECK(distance(raised.x, all.c / 6 / 5) < 1e-14);
    // With this round's messages, of all numbers: Newton's step at once. Of the three largest, the matrix is their
    // mean.
    auto const fresh = run_newton(fednl<identity>{.start_in_full = false}, f, 0, 1);
    CHECK(fresh.distance < 1e-15);
    CHECK(mean_gradient_norm(f, fresh.x) < 1e-12);
    Eigen::MatrixXd sent = Eigen::MatrixXd::Zero(4, 4);
    double left = 0;
    for (auto const& each : f) {
        std::vector<std::pair<double, std::pair<Eigen::Index, Eigen::Index>>> by_size;
        for (Eigen::Index i = 0; i < 4; ++i)
            for (Eigen::Index j = 0; j <= i; ++j)
                by_size.push_back({std::abs(each.h(i, j)) * (i == j ? 1 : std::numbers::sqrt2), {i, j}});
        std::sort(by_size.rbegin(), by_size.rend());
        double square = 0;
        for (std::size_t k = 3; k < by_size.size(); ++k) square += by_size[k].first * by_size[k].first;
        left += std::sqrt(square) / 6;
        for (std::size_t k = 0; k < 3; ++k) {
            auto const [i, j] = by_size[k].second;
            sent(i, j) += each.h(i, j) / 6;
            if (i != j) sent(j, i) += each.h(i, j) / 6;
        }
    }
    auto const three = run_newton(fednl<top_k<>>{.compressor = {3}, .start_in_full = false}, f, 0, 1);
    CHECK(three.distance == doctest::Approx(left).epsilon(1e-13));
    sent += left * Eigen::MatrixXd::Identity(4, 4);
    CHECK((sent * Eigen::Map<Eigen::VectorXd const>(three.x.data(), 4) - all.c / 6).norm() < 1e-13);
    // mu of the problem is that of the objective, where it is not given.
    logistic const one(two_rows(), .25);
    auto const known =
        run_newton(fednl<top_k<>>{.compressor = {1}, .definite = definite_by::projection, .start_in_full = false},
                   std::vector<logistic>{one}, 0, 1);
    std::vector<double> g(2);
    one.gradient(std::vector<double>(2), g);
    CHECK(known.x[0] == doctest::Approx(-g[0] / .25).epsilon(1e-14));
}

TEST_CASE("DET6: the Hessians are learned at the rate alpha") {
    auto const f = det6_workers();
    // With everything sent and alpha = 1/2, the error halves in each round; the matrix of a step is that before it.
    auto const half = [&](std::size_t rounds) {
        return run_newton(fednl<identity>{.alpha = .5, .fresh = false, .start_in_full = false}, f, 0, rounds);
    };
    CHECK(run_newton(fednl<identity>{.alpha = .5, .start_in_full = false}, f, 0, 3).hessian_error ==
          doctest::Approx(mean_hessian(f, std::vector<double>(4)).norm() / 8).epsilon(1e-12));
    double const whole = mean_hessian(f, std::vector<double>(4)).norm();
    for (std::size_t k = 1; k < 6; ++k)
        CHECK(half(k).hessian_error == doctest::Approx(whole * std::pow(.5, double(k) - 1)).epsilon(1e-12));
    double far = 0;
    for (auto const& each : f) far += each.h.norm() / 6;
    CHECK(run_newton(fednl<identity>{.alpha = .5, .start_in_full = false}, f, 0, 3).distance ==
          doctest::Approx(far / 8).epsilon(1e-12));
    // top_k of 1 of 10 learns a fixed Hessian in ten rounds, rand_k at 1 / (1 + omega) = 1/10 not.
    CHECK(run_newton(fednl<top_k<>>{.compressor = {1}, .start_in_full = false}, f, 0, 11).hessian_error < 1e-14);
    CHECK(run_newton(fednl<rand_k<>>{.compressor = {1}, .start_in_full = false}, f, 0, 11).hessian_error > .1 * whole);
    CHECK(run_newton(fednl<rand_k<>>{.compressor = {1}, .start_in_full = false}, f, 0, 900).hessian_error <
          1e-6 * whole);
}

TEST_CASE("the bytes of a round: the gradient, the distance and the compressed difference") {
    auto const f = workers_on("ionosphere", 10, 1e-3);
    if (!f) return;
    std::size_t const tags = 2 * 4;  // of the two messages, by which ranks see that they are in the same round
    auto const whole = run_newton(fednl<identity>{}, *f, 0, 4);
    for (std::size_t k = 1; k < 4; ++k) CHECK(whole.sent[k] == 8 * (34 + 1 + 34 * 35 / 2) + tags);
    auto const projected = run_newton(fednl<identity>{.definite = definite_by::projection}, *f, 0, 4);
    for (std::size_t k = 1; k < 4; ++k) CHECK(projected.sent[k] == 8 * (34 + 34 * 35 / 2) + tags);
    // k values of 8 bytes and the positions, at most ceil(log2 binomial(595, 34)) + some bits: below one byte each.
    auto const few = run_newton(fednl<top_k<>>{.compressor = {34}}, *f, 0, 4);
    for (std::size_t k = 1; k < 4; ++k) {
        CHECK(few.sent[k] > 8 * (34 + 1 + 34));
        CHECK(few.sent[k] < 8 * (34 + 1 + 34) + 34);
    }
}

TEST_CASE("gradients by a reduction of their own: FedNL still reaches the optimum") {
    auto const f = workers_on("ionosphere", 4, 1e-2);
    if (!f) return;
    using method = fednl<top_k<>, ef21_shift<top_k<>>>;
    auto const run = run_newton(method{.compressor = {272}, .gradient = {{17}}}, *f, 1e-10, 400);
    CHECK(run.norms.back() < 1e-10);
}

struct sick_hessian {
    det6::objective f;
    int what = 0;  // 1: the gradient, 2: the Hessian is not finite, 3: the Hessian throws

    std::size_t dimension() const { return 4; }
    double value(std::span<double const> x) const { return f.value(x); }
    void gradient(std::span<double const> x, std::span<double> g) const {
        f.gradient(x, g);
        if (what == 1) g[2] = std::nan("");
    }
    void hessian(std::span<double const>, Eigen::MatrixXd& out) const {
        if (what == 3) throw error("no Hessian today");
        out = f.h;
        if (what == 2) out(1, 1) = INFINITY;
    }
};

TEST_CASE("what one rank gets wrong all ranks throw, and then go on as if it had not been") {
    auto const f = det6_workers();
    char const* const expected[] = {"rank 4, round 1: the gradient is not finite at coordinate 2 of layer gradient",
                                    "rank 4, round 1: the gradient is not finite at coordinate 2 of layer Hessian",
                                    "rank 4, round 1: no Hessian today"};
    for (bool const in_full : {false, true})
        for (int what = 1; what <= 3; ++what) {
            CAPTURE(what);
            threads::run(6, [&](threads::member& comm) {
                sick_hessian mine{f[std::size_t(comm.rank())]};
                std::vector<double> x(4), healthy(4);
                fednl<rand_k<>> const method{.compressor = {3}, .start_in_full = in_full};
                auto run = method.start<double>(problem{}, mine, comm, std::span<double>(x), 1);
                auto other = method.start<double>(problem{}, mine, comm, std::span<double>(healthy), 1);
                run.round(), other.round();
                if (comm.rank() == 4) mine.what = what;
                auto const before = x;
                CHECK_THROWS_WITH_AS(run.round(), expected[what - 1], error);
                CHECK(x == before);
                CHECK(run.rounds() == 1);
                mine.what = 0;
                for (int k = 0; k < 4; ++k) run.round(), other.round();
                CHECK(x == healthy);
            });
        }
    // The same in the first round, where the Hessians are sent in full.
    threads::run(6, [&](threads::member& comm) {
        sick_hessian mine{f[std::size_t(comm.rank())], comm.rank() == 4 ? 3 : 0};
        std::vector<double> x(4);
        auto run = fednl<top_k<>>{.compressor = {3}}.start<double>(problem{}, mine, comm, std::span<double>(x), 1);
        CHECK_THROWS_WITH_AS(run.round(), "rank 4, round 0: no Hessian today", compression_error);
        mine.what = 0;
        run.round();
        CHECK(mean_gradient_norm(f, x) < 1e-11);
    });
}

TEST_CASE("a value that is not finite on one rank ends a line search on all, with x where it was") {
    auto const f = det6_workers();
    struct no_value : det6::objective {
        bool bad = false;
        double value(std::span<double const> x) const { return bad ? std::nan("") : det6::objective::value(x); }
    };
    threads::run(6, [&](threads::member& comm) {
        no_value mine{f[std::size_t(comm.rank())]};
        std::vector<double> x(4, 1.);
        auto run = fednl<top_k<>>{.compressor = {3}, .line_search = true}.start<double>(problem{}, mine, comm,
                                                                                        std::span<double>(x), 1);
        mine.bad = comm.rank() == 4;
        auto const before = x;
        CHECK_THROWS_WITH_AS(run.round(), "rank 4, round 0: the value of the objective is not finite",
                             compression_error);
        CHECK(x == before);
        mine.bad = false;
        for (int k = 0; k < 3; ++k) run.round();
        CHECK(mean_gradient_norm(f, x) < 1e-11);
    });
}

TEST_CASE("a matrix that is not positive definite is an error on all ranks, before x moves") {
    struct saddle {
        std::size_t dimension() const { return 2; }
        double value(std::span<double const> x) const { return x[0] * x[0] - x[1] * x[1]; }
        void gradient(std::span<double const> x, std::span<double> g) const { g[0] = 2 * x[0], g[1] = -2 * x[1]; }
        void hessian(std::span<double const>, Eigen::MatrixXd& h) const { h = Eigen::Vector2d(2, -2).asDiagonal(); }
    } const f;
    threads::run(2, [&](threads::member& comm) {
        std::vector<double> x{1, 1};
        auto run = fednl<identity>{}.start<double>(problem{}, f, comm, std::span<double>(x), 1);
        CHECK_THROWS_WITH_AS(run.round(), doctest::Contains("round 0: the learned Hessian plus 0 is not positive"),
                             error);
        CHECK(x == std::vector<double>{1, 1});
        auto raised = fednl<identity>{.definite = definite_by::projection, .mu = .5}.start<double>(
            problem{}, f, comm, std::span<double>(x), 1);
        raised.round();
        CHECK(std::abs(x[0]) < 1e-14);
        CHECK(x[1] == doctest::Approx(1 + 2 / .5));
    });
}

TEST_CASE("a saved FedNL goes on bit for bit, and is no other's") {
    auto const f = det6_workers();
    for (bool const in_full : {false, true}) {
        auto const keeping = [&](std::size_t k) {
            return [&, k](threads::member& comm, std::span<double> x) {
                fednl<rand_k<>> const method{.compressor = {k}, .start_in_full = in_full, .line_search = !in_full};
                return method.start<double>(problem{}, f[std::size_t(comm.rank())], comm, x, 5);
            };
        };
        rounds::go_on_from_states(6, std::vector<double>(4, 1.), 5, keeping(3), keeping(2));
    }
}

TEST_CASE("FedNL in floats") {
    auto data = test_data("ionosphere");
    if (!data) return;
    binary_labels(*data);
    dataset<float> rows{data->name, data->rows.cast<float>(), {data->labels.begin(), data->labels.end()}};
    threads::run(2, [&](threads::member& comm) {
        logistic_regression<float> const f(rows.part(std::size_t(comm.rank()), 2), 1e-2);
        std::vector<float> x(34);
        auto run = fednl<top_k<>>{.compressor = {272}}.start<float>(problem{}, f, comm, std::span<float>(x), 1);
        for (int k = 0; k < 40; ++k) run.round();
        auto const seen = run.look();
        CHECK(seen.round == 40);
        double const value = seen.value();
        run.round();
        CHECK(run.look().value() == doctest::Approx(value).epsilon(1e-6));
        CHECK(run.distance() < 1e-4);
    });
}
