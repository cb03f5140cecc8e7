// SPDX-License-Identifier: Apache-2.0
// SGD-SEC reaches an optimum that all rows share, and else comes near it, with the numbers of gd_sec.
#include "laconic/method/sgd_sec.hpp"

#include "support/test.hpp"
#include "support/toys.hpp"

using namespace laconic;
using namespace toys;

static_assert(Method<sgd_sec>);

namespace {

// (1/m) sum_j (a_j . x - y_j)^2 / 2 over rows that one solution, (1, 2, 3), fits up to `noise`.
struct regression {
    std::vector<vec> rows;
    vec labels;

    regression(std::uint64_t seed, double noise) {
        for (std::uint64_t j = 0; j < 12; ++j) {
            vec a;
            for (std::uint64_t i = 0; i < 3; ++i) a.push_back(2 * key{seed}.child(j).uniform(i) - 1);
            labels.push_back(dot(a, vec{1, 2, 3}) + noise * (2 * key{seed}.uniform(j) - 1));
            rows.push_back(std::move(a));
        }
    }
    std::size_t dimension() const { return 3; }
    std::size_t samples() const { return rows.size(); }
    double value(std::span<double const> x) const {
        double sum = 0;
        for (std::size_t j = 0; j < rows.size(); ++j) sum += square(dot(rows[j], x) - labels[j]) / 24;
        return sum;
    }
    void gradient(std::span<double const> x, std::span<double> g) const {
        std::vector<std::uint32_t> all;
        for (std::uint32_t j = 0; j < rows.size(); ++j) all.push_back(j);
        batch_gradient(all, x, g);
    }
    void batch_gradient(std::span<std::uint32_t const> chosen, std::span<double const> x, std::span<double> g) const {
        for (std::size_t i = 0; i < 3; ++i) {
            g[i] = 0;
            for (auto const j : chosen)
                g[i] += (dot(rows[j], x) - labels[j]) * rows[j][i] / static_cast<double>(chosen.size());
        }
    }
};

// From the optimum of the mean of four such, whose L is below 1.
double distance_after(double step, double noise, std::size_t rounds) {
    std::vector<regression> f;
    for (std::uint64_t i = 0; i < 4; ++i) f.emplace_back(i, noise);
    vec best(3), g(3);
    for (int k = 0; k < 2000; ++k) {
        vec const at = best;
        for (auto const& each : f) {
            each.gradient(at, g);
            for (std::size_t i = 0; i < 3; ++i) best[i] -= .5 * g[i] / 4;
        }
    }
    lockstep run(sgd_sec{1, {.step = step}}.compose<double, host>(problem{3, 4, 1}), f, vec(3, 0.0), 3);
    run.rounds(rounds);
    return std::sqrt(distance2(run.x(), best));
}

}  // namespace

TEST_CASE("where all rows agree on the optimum it gets there, and where they do not, near it") {
    CHECK(distance_after(.3, 0, 2000) < 1e-9);
    double const far = distance_after(.3, 1, 2000), near = distance_after(.01, 1, 4000);
    CHECK(far > .01);
    CHECK(near < .5);
    CHECK(near < far);
}

TEST_CASE("its numbers are gd_sec's, its gradients of one row where no batch is given") {
    problem const p{8, 5, 4, .5, 9, 6};
    auto const r = sgd_sec{100, {}}.compose<double, host>(p);
    CHECK(r.step.rate == .25);
    CHECK(r.feedback.rate() == .01);
    CHECK(r.feedback.keeps_residual());
    CHECK(to_string(r.level) == "follow_last_move(400)");
    CHECK(to_string(r.estimator) == "mini_batch(1)");
    CHECK(to_string(sgd_sec{100, {.batch = 7}}.compose<double, host>(p).estimator) == "mini_batch(7)");
    CHECK(to_string(sgd_sec{}) == "sgd_sec(xi=100, beta=0.01, batch=1)");
    CHECK(to_string(sgd_sec{2, {.step = .5, .batch = 7}}) == "sgd_sec(xi=2, beta=0.01, step=0.5, batch=7)");
}

TEST_CASE("wrong arguments are refused with the reason") {
    problem const p{2, 2, 4, .5, 9, 6};
    CHECK_THROWS_WITH_AS((sgd_sec{-1, {}}.compose<double, host>(p)), doctest::Contains("sgd_sec: xi = -1"),
                         argument_error);
    CHECK_THROWS_WITH_AS((sgd_sec{1, {.memory = 2.}}.compose<double, host>(p)), doctest::Contains("beta = 2"),
                         argument_error);
    CHECK_THROWS_WITH_AS((sgd_sec{}.compose<double, host>(problem{})), doctest::Contains("smoothness L"), theory_error);
}
