// SPDX-License-Identifier: Apache-2.0
// any_objective gives the numbers of the objective inside to the bit, and refuses what that one cannot compute.
#include "laconic/any/objective.hpp"

#include "support/everything.hpp"
#include "support/samples.hpp"
#include "support/toys.hpp"

using samples::vec;

static_assert(GeneralisedLinear<any_objective<>> && SmoothFiniteSum<any_objective<>> &&
              FusedObjective<any_objective<>>);

TEST_CASE("all that the objective inside can do, it does, to the bit") {
    auto const f = samples::logistic_of(9, 5, 3);
    any_objective<> const any = f, copy = any;
    auto const x = samples::point(5, 1);
    std::span<double const> const at(x);
    vec g(5), h(5);
    for (auto const& face : {any, copy}) {
        CHECK(face.dimension() == 5);
        CHECK(face.value(at) == f.value(at));
        CHECK(face.smoothness() == f.smoothness());
        CHECK(face.strong_convexity() == f.strong_convexity());
        CHECK(face.sample_smoothness() == f.sample_smoothness());
        CHECK(face.samples() == 9);
        CHECK(face.outputs() == 1);
        face.gradient(at, std::span(g));
        f.gradient(at, std::span(h));
        CHECK(g == h);
        CHECK(face.value_and_gradient(at, std::span(g)) == f.value_and_gradient(at, std::span(h)));
        CHECK(g == h);
        std::vector<std::uint32_t> const rows{2, 2, 7};
        face.batch_gradient(rows, at, std::span(g));
        f.batch_gradient(rows, at, std::span(h));
        CHECK(g == h);
        double mine = 0, its = 0;
        face.slopes(4, at, std::span(&mine, 1));
        f.slopes(4, at, std::span(&its, 1));
        CHECK(mine == its);
        face.add_row(4, std::span<double const>(&mine, 1), 0.5, std::span(g));
        f.add_row(4, std::span<double const>(&its, 1), 0.5, std::span(h));
        face.add_penalty_gradient(at, std::span(g));
        f.add_penalty_gradient(at, std::span(h));
        CHECK(g == h);
        face.hessian_times(at, at, std::span(g));
        f.hessian_times(at, at, std::span(h));
        CHECK(g == h);
        Eigen::MatrixXd a, b;
        face.hessian(at, a);
        f.hessian(at, b);
        CHECK(a == b);
    }
}

TEST_CASE("what it cannot do is refused, and constants it does not know are 0") {
    struct plain_bowl {
        std::size_t dimension() const { return 2; }
        double value(std::span<double const> x) const { return x[0] * x[0] + x[1] * x[1]; }
        void gradient(std::span<double const> x, std::span<double> g) const {
            for (std::size_t i = 0; i < 2; ++i) g[i] = 2 * x[i];
        }
    };
    any_objective<> const any = plain_bowl{};
    vec const x{1, 2};
    vec g(2);
    CHECK(any.value_and_gradient(std::span<double const>(x), std::span(g)) == 5);
    CHECK(g == vec{2, 4});
    CHECK(any.smoothness() == 0);
    CHECK(any.strong_convexity() == 0);
    CHECK(any.sample_smoothness() == 0);
    CHECK(any.samples() == 0);
    std::vector<std::uint32_t> const rows{0};
    CHECK_THROWS_WITH_AS(any.batch_gradient(rows, x, std::span(g)), doctest::Contains("no samples to draw from"),
                         argument_error);
    CHECK_THROWS_WITH_AS(any.outputs(), doctest::Contains("no generalised linear one"), argument_error);
    CHECK_THROWS_AS(any.slopes(0, x, std::span(g)), argument_error);
    CHECK_THROWS_AS(any.add_row(0, x, 1, std::span(g)), argument_error);
    CHECK_THROWS_AS(any.add_penalty_gradient(x, std::span(g)), argument_error);
    CHECK_THROWS_WITH_AS(any.hessian_times(x, x, std::span(g)),
                         "this objective has no second derivatives: it needs hessian_times(x, v, out)", argument_error);
    Eigen::MatrixXd h;
    CHECK_THROWS_AS(any.hessian(x, h), argument_error);
}
