// SPDX-License-Identifier: Apache-2.0
// The mean of dual averaging's iterates is within its bound of the optimum, for smooth functions and for corners.
#include "laconic/method/dual_averaging.hpp"

#include "laconic/method/gd.hpp"
#include "support/real_data.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace toys;

static_assert(Method<dual_averaging>);

namespace {

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

}  // namespace

TEST_CASE("of smooth functions: the mean of the iterates is within 2 L R^2 / sqrt(T), and gradient descent far ahead") {
    auto const f = random_ridges(3, 6, .1, 3);
    auto const p = constants(f);
    auto const whole = mean_of(f);
    known_optimum const best(f);
    auto const recursion = dual_averaging{}.compose<double, host>(p);
    CHECK(to_string(recursion.step) == "dual_averaging_step(" + shortest(.5 / p.smoothness) + ")");
    lockstep run(recursion, f, vec(6, 1.0), 1);
    double const r2 = distance2(vec(6, 1.0), best.x);
    for (int t = 1; t <= 2000; ++t) {
        run.round();
        REQUIRE(whole.value(run.method(0).step.average()) - best.value <= 2 * p.smoothness * r2 / std::sqrt(t));
    }
    CHECK(copied(run.method(0).step.average()) == copied(run.method(2).step.average()));
    double const gap = whole.value(run.method(0).step.average()) - best.value;
    CHECK(gap > 1e-6);
    auto const gradient = history(composed(gd{}, p), f, vec(6, 1.0), 2000);
    CHECK(whole.value(gradient[2000].x[0]) - best.value < 1e-3 * gap);
}

TEST_CASE("real data: the mean of the iterates is within 2 L R^2 / sqrt(T)") {
    auto const real = real_data(10);
    if (!real) return;
    auto const& p = real->p;
    lockstep run(dual_averaging{}.compose<double, host>(p), real->f, vec(13, 0.0), 1);
    double largest = 0, gap = 0;
    for (int t = 1; t <= 500; ++t) {
        run.round();
        gap = mean_value(real->f, run.method(0).step.average()) - real->best.value;
        largest = std::max(largest, gap / (2 * p.smoothness * norm2(real->best.x) / std::sqrt(t)));
    }
    CHECK(largest <= 1);
    CHECK(gap < .05);
    CHECK(largest > .05);
}

TEST_CASE("of functions with corners: within (R^2 / (2 step) + step G^2) / sqrt(T), for three steps") {
    std::vector<corner> const f{{{0, 5}}, {{1, 0}}, {{4, 1}}};  // the medians: (1, 1)
    auto const value = [&](std::span<double const> x) {
        double sum = 0;
        for (auto const& each : f) sum += each.value(x) / 3;
        return sum;
    };
    vec const start{3, 4}, best{1, 1};
    double const r2 = 13, g2 = 2;
    for (double const step : {.1, std::sqrt(r2 / 2 / g2), 10.}) {
        CAPTURE(step);
        lockstep run(dual_averaging{{.step = step}}.compose<double, host>(problem{}), f, start, 1);
        for (int t = 1; t <= 3000; ++t) {
            run.round();
            double const gap = value(run.method(0).step.average()) - value(best);
            REQUIRE(gap >= -1e-12);
            REQUIRE(gap <= (r2 / (2 * step) + step * g2) / std::sqrt(t));
        }
    }
}

TEST_CASE("wrong arguments are refused with the reason, and its text has the right ones") {
    CHECK_THROWS_WITH_AS((dual_averaging{}.compose<double, host>(problem{})), doctest::Contains("smoothness L"),
                         theory_error);
    CHECK_THROWS_AS((dual_averaging{{.step = 0.}}.compose<double, host>(problem{})), argument_error);
    CHECK_THROWS_AS((dual_averaging{{.memory = .5}}.compose<double, host>(problem{2, 2, 1})), argument_error);
    CHECK(to_string(dual_averaging{}) == "dual_averaging");
    CHECK(to_string(dual_averaging{{.step = .5, .batch = 4}}) == "dual_averaging(step=0.5, batch=4)");
    CHECK(to_string(dual_averaging{{.step = .5, .batch = 4}}.compose<double, host>(problem{}).estimator) ==
          "mini_batch(4)");
}
