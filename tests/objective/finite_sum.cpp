// SPDX-License-Identifier: Apache-2.0
// Batches are means, slopes give gradients, and sample_smoothness is that of the least smooth row.
#include "laconic/objective/finite_sum.hpp"

#include "support/drawn.hpp"
#include "support/everything.hpp"

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
