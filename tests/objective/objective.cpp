// SPDX-License-Identifier: Apache-2.0
// evaluate computes value and gradient in one pass where it can, for any contiguous range.
#include "laconic/objective/objective.hpp"

#include "support/drawn.hpp"
#include "support/everything.hpp"

// The least that a user has to write: f(x) = |x|^2 / 2.
struct half_square {
    mutable int values = 0, gradients = 0;

    std::size_t dimension() const { return 3; }
    double value(std::span<double const> x) const {
        ++values;
        double sum = 0;
        for (double xi : x) sum += xi * xi;
        return sum / 2;
    }
    void gradient(std::span<double const> x, std::span<double> g) const {
        ++gradients;
        for (std::size_t i = 0; i < x.size(); ++i) g[i] = x[i];
    }
};

struct fused_half_square : half_square {
    mutable int both = 0;

    double value_and_gradient(std::span<double const> x, std::span<double> g) const {
        ++both;
        for (std::size_t i = 0; i < x.size(); ++i) g[i] = x[i];
        return (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) / 2;
    }
    double smoothness() const { return 1; }
    double strong_convexity() const { return 1; }
};

struct value_is_text {
    std::size_t dimension() const { return 1; }
    std::string value(std::span<double const>) const { return "low"; }
    void gradient(std::span<double const>, std::span<double>) const {}
};

struct members_not_const {
    std::size_t dimension() const { return 1; }
    double value(std::span<double const>) { return 0; }
    void gradient(std::span<double const>, std::span<double>) {}
};

static_assert(laconic::Objective<half_square> && !laconic::FusedObjective<half_square> &&
              !laconic::SmoothObjective<half_square>);
static_assert(laconic::FusedObjective<fused_half_square> && laconic::SmoothObjective<fused_half_square>);
static_assert(!laconic::Objective<half_square, float>, "its spans are of double");
static_assert(!laconic::Objective<half_square, int> && !laconic::Objective<int>);
static_assert(!laconic::Objective<value_is_text>, "a value is a number");
static_assert(!laconic::Objective<members_not_const>, "members are const");

TEST_CASE("evaluate calls for both where they come together, and for each otherwise") {
    std::vector<double> const x{1, 2, 3};
    std::vector<double> g(3);

    half_square const plain;
    CHECK(laconic::evaluate(plain, x, g) == 7);
    CHECK(g == x);
    CHECK(plain.values == 1);
    CHECK(plain.gradients == 1);

    g.assign(3, 0);
    fused_half_square const fused;
    CHECK(laconic::evaluate(fused, x, g) == 7);
    CHECK(g == x);
    CHECK(fused.both == 1);
    CHECK(fused.values + fused.gradients == 0);
}

TEST_CASE("evaluate takes whatever is contiguous") {
    fused_half_square const f;
    Eigen::Vector3d const x(1, 0, 2);
    std::array<double, 3> g{};
    CHECK(laconic::evaluate(f, x, g) == 2.5);
    CHECK(g == std::array{1.0, 0.0, 2.0});

    std::vector<double> other(3);
    std::span<double> const at(g);
    CHECK(laconic::evaluate(f, at, std::span<double>(other)) == 2.5);
    CHECK(other[2] == 2);
}

// Batches are means, slopes give gradients, and sample_smoothness is that of the least smooth row.

// The least that a user has to write: f_j(x) = (x - j)^2 / 2.
struct mean_of_squares {
    std::size_t dimension() const { return 1; }
    double value(std::span<double const> x) const { return (x[0] * x[0] + (x[0] - 1) * (x[0] - 1)) / 4; }
    void gradient(std::span<double const> x, std::span<double> g) const { g[0] = x[0] - 0.5; }
    int samples() const { return 2; }
    void batch_gradient(std::span<std::uint32_t const> rows, std::span<double const> x, std::span<double> g) const {
        g[0] = x[0];
        for (auto const j : rows) g[0] -= double(j) / double(rows.size());
    }
};
struct smooth_mean_of_squares : mean_of_squares {
    double smoothness() const { return 1; }
    double strong_convexity() const { return 1; }
    double sample_smoothness() const { return 1; }
};
struct only_a_function {
    std::size_t dimension() const { return 1; }
    double value(std::span<double const>) const { return 0; }
    void gradient(std::span<double const>, std::span<double>) const {}
    std::size_t samples() const { return 2; }
};

static_assert(FiniteSum<mean_of_squares> && !SmoothFiniteSum<mean_of_squares> && !GeneralisedLinear<mean_of_squares>);
static_assert(SmoothFiniteSum<smooth_mean_of_squares>);
static_assert(!FiniteSum<only_a_function> && !FiniteSum<mean_of_squares, float>);
static_assert(SmoothFiniteSum<logistic_regression<>> && GeneralisedLinear<logistic_regression<>>);
static_assert(SmoothFiniteSum<ridge<float>, float> && GeneralisedLinear<ridge<float>, float>);
static_assert(!GeneralisedLinear<ridge<float>, double>);
static_assert(SmoothFiniteSum<nonconvex_logistic<>> && GeneralisedLinear<nonconvex_logistic<>>);
static_assert(SmoothFiniteSum<softmax<>> && GeneralisedLinear<softmax<>>);

TEST_CASE_TEMPLATE("finite_sum: batches are means, and slopes give gradients", F, logistic_regression<>, ridge<>,
                   nonconvex_logistic<>, softmax<>) {
    F const f(drawn::data(12, 5, 0.6), 0.3);
    auto const x = drawn::point(f.dimension(), 1);
    CHECK(f.samples() == 12);
    drawn::batches_are_means(f, x);
    drawn::slopes_give_gradients(f, x);
}

TEST_CASE_TEMPLATE("finite_sum: sample_smoothness is that of the least smooth row by itself, at least f's", F,
                   logistic_regression<>, ridge<>, nonconvex_logistic<>, softmax<>) {
    auto const data = drawn::data(9, 4, 0.6);
    auto const one = [&](std::size_t j) {
        if constexpr (std::is_same_v<F, softmax<>>)
            return softmax<>(data.slice(j, j + 1, "row"), 0.3, {-1, 1});
        else
            return F(data.slice(j, j + 1, "row"), 0.3);
    };
    F const f(data, 0.3);
    double largest = 0;
    for (std::size_t j = 0; j < 9; ++j) largest = std::max(largest, one(j).smoothness());
    CHECK(f.sample_smoothness() == doctest::Approx(largest).epsilon(1e-13));
    CHECK(f.sample_smoothness() > f.smoothness());
}

// The library's objectives have products with their Hessians, those of generalised linear models the Hessian too, and
// both are one.

static_assert(HessianObjective<logistic_regression<>> && HessianObjective<logistic_regression<float>, float>);
static_assert(HessianObjective<ridge<>> && HessianObjective<nonconvex_logistic<>>);
static_assert(HessianProductObjective<logistic_regression<>> && HessianProductObjective<ridge<float>, float>);
static_assert(HessianProductObjective<nonconvex_logistic<>> && HessianProductObjective<softmax<>>);
static_assert(HessianProductObjective<perceptron<>> && HessianProductObjective<perceptron<float>, float>);
static_assert(!HessianObjective<perceptron<>> && !HessianObjective<ridge<>, float>);

void product_is_the_hessian_s(auto const& f) {
    auto const d = f.dimension();
    auto const x = drawn::point(d, 1), v = drawn::point(d, 2);
    Eigen::MatrixXd h;
    f.hessian(x, h);
    std::vector<double> product(d);
    f.hessian_times(x, v, product);
    Eigen::VectorXd const expected = h * Eigen::Map<Eigen::VectorXd const>(v.data(), Eigen::Index(d));
    for (std::size_t i = 0; i < d; ++i) CHECK(product[i] == doctest::Approx(expected(Eigen::Index(i))).epsilon(1e-12));
    CHECK((h - h.transpose()).cwiseAbs().maxCoeff() < 1e-15 * h.norm());
    drawn::products_are_true(f, x, v);
}

TEST_CASE("hessian: the product is the matrix's, and the gradient's differences'") {
    auto const data = drawn::data(40, 7);
    product_is_the_hessian_s(logistic_regression<>(data, .01));
    product_is_the_hessian_s(ridge<>(data, .01));
    product_is_the_hessian_s(nonconvex_logistic<>(data, .1));
    softmax<> const f(drawn::data(40, 7, .5, 3), .01);
    drawn::products_are_true(f, drawn::point(f.dimension(), 1), drawn::point(f.dimension(), 2));
}

// Every constant of a problem is unknown until it is given, and counts in comparison.

using laconic::problem;

TEST_CASE("problem: every constant is unknown until it is given") {
    CHECK(problem{} == problem{0, 1, 0, 0, 0, 0, 0, 0, 0, 0});
    for (problem const& given : {problem{.largest_smoothness = 2}, {.samples = 3}, {.own_smoothness = 3}})
        CHECK(given != problem{});
}
