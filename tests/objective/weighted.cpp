// SPDX-License-Identifier: Apache-2.0
// A weight multiplies values, gradients, Hessians and constants; weighted by their samples, unequal ranks minimise the
// mean over all samples.
#include "laconic/objective/weighted.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/drawn.hpp"
#include "support/everything.hpp"

using of_ridge = weighted<ridge<>>;
static_assert(SmoothObjective<of_ridge> && FusedObjective<of_ridge> && SmoothFiniteSum<of_ridge>);
static_assert(HessianObjective<of_ridge> && HessianProductObjective<of_ridge>);
static_assert(GeneralisedLinear<of_ridge> && !Objective<of_ridge, float>);

TEST_CASE("all that scales is scaled, and nothing else") {
    ridge<> const f(drawn::data(9, 3, 1), .1);
    weighted const w(f, 2.5);
    std::vector<double> const x{1, -2, .5}, v{.3, 0, -1};
    std::vector<double> g(3), h(3);
    CHECK(w.weight() == 2.5);
    CHECK(w.dimension() == 3);
    CHECK(w.samples() == 9);
    CHECK(w.value(x) == 2.5 * f.value(x));
    CHECK(w.smoothness() == 2.5 * f.smoothness());
    CHECK(w.strong_convexity() == 2.5 * f.strong_convexity());
    CHECK(w.sample_smoothness() == 2.5 * f.sample_smoothness());
    auto const same = [&] {
        for (std::size_t j = 0; j < 3; ++j) CHECK(g[j] == 2.5 * h[j]);
    };
    f.gradient(x, h), w.gradient(x, g), same();
    CHECK(evaluate(w, x, g) == 2.5 * evaluate(f, x, h));
    same();
    std::vector<std::uint32_t> const rows{2, 7};
    f.batch_gradient(rows, x, h), w.batch_gradient(rows, x, g), same();
    f.hessian_times(x, v, h), w.hessian_times(x, v, g), same();
    Eigen::MatrixXd a, b;
    f.hessian(x, a), w.hessian(x, b);
    CHECK((b - 2.5 * a).norm() == 0);
    double s = 0, t = 0;
    CHECK(w.outputs() == 1);
    f.slopes(4, x, std::span(&s, 1)), w.slopes(4, x, std::span(&t, 1));
    CHECK(t == 2.5 * s);
    g = h = v;  // what is there stays
    w.add_row(4, std::span<double const>(&t, 1), 3, g), w.add_penalty_gradient(x, g);
    f.add_row(4, std::span<double const>(&s, 1), 3 * 2.5, h);
    for (std::size_t j = 0; j < 3; ++j) CHECK(g[j] == doctest::Approx(h[j] + 2.5 * .1 * x[j]).epsilon(1e-14));
}

TEST_CASE("ranks with one row or two, weighted by their samples, minimise the mean over all rows") {
    auto const data = drawn::data(17, 3, 1);
    auto const best = find_optimum(ridge<>(data, .1)).x;
    fibers::run(10, [&](fibers::member& comm) {
        ridge<> const mine(data.part(std::size_t(comm.rank()), 10), .1);
        auto const f = by_samples(comm, mine);
        CHECK(f.weight() == doctest::Approx((comm.rank() < 7 ? 20. : 10.) / 17));
        std::vector<double> x(3), y(3);
        descend(diana{rand_k{2}}, f, x, comm, {.rounds = 2000, .seed = 0});
        descend(diana{rand_k{2}}, mine, y, comm, {.rounds = 2000, .seed = 0});
        std::vector<double> z(3);
        descend(vr_diana_saga{rand_k{2}}, f, z, comm, {.rounds = 4000, .seed = 0});
        for (std::size_t j = 0; j < 3; ++j) CHECK(z[j] == doctest::Approx(best[j]).epsilon(1e-6));
        double away = 0;
        for (std::size_t j = 0; j < 3; ++j) {
            CHECK(x[j] == doctest::Approx(best[j]).epsilon(1e-9));
            away += std::abs(y[j] - best[j]);
        }
        CHECK(away > 1e-3);  // the mean of means is another function
    });
}

TEST_CASE("equal ranks have the weight 1 and the same bits; a rank without samples is an error on all") {
    auto const data = drawn::data(12, 3, 1);
    fibers::run(4, [&](fibers::member& comm) {
        ridge<> const mine(data.part(std::size_t(comm.rank()), 4), .1);
        auto const f = by_samples(comm, mine);
        CHECK(f.weight() == 1);
        std::vector<double> x(3), y(3);
        descend(diana{rand_k{2}}, f, x, comm, {.rounds = 20, .seed = 0});
        descend(diana{rand_k{2}}, mine, y, comm, {.rounds = 20, .seed = 0});
        CHECK(x == y);
        struct counted {
            std::size_t n;
            std::size_t samples() const { return n; }
        } const none{comm.rank() == 2 ? 0u : 3u};
        CHECK_THROWS_WITH_AS(by_samples(comm, none), "rank 2 has no samples, and so no weight", argument_error);
    });
}
