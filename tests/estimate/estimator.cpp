// SPDX-License-Identifier: Apache-2.0
// The full gradient is the objective's, with the value where it is free, and Estimator asks for samples and slopes.
#include "laconic/estimate/estimator.hpp"

#include "support/everything.hpp"
#include "support/samples.hpp"

// f(x) = (3/2) x^2, in one pass or in two.
struct parabola {
    std::size_t dimension() const { return 1; }
    double value(std::span<double const> x) const { return 1.5 * x[0] * x[0]; }
    void gradient(std::span<double const> x, std::span<double> g) const { g[0] = 3 * x[0]; }
};
struct fused_parabola : parabola {
    double value_and_gradient(std::span<double const> x, std::span<double> g) const {
        gradient(x, g);
        return value(x);
    }
};

// An estimator of the user's: the gradient, doubled.
struct doubled {
    template <class B, class F, Scalar T>
    std::optional<double> operator()(B&, F const& f, round_context const&, std::span<T const> x, std::span<T> g) {
        f.gradient(x, g);
        for (T& v : g) v *= 2;
        return std::nullopt;
    }
    template <class B, Scalar T>
    void update(B&, std::span<T const>) {}
};
struct without_update : doubled {
    void update() = delete;
};
struct without_value {
    void operator()(host&, parabola const&, round_context const&, std::span<double const>, std::span<double>) {}
    void update(host&, std::span<double const>) {}
};

static_assert(Estimator<mini_batch, parabola> && Estimator<mini_batch, fused_parabola>);
static_assert(Estimator<doubled, parabola> && !Estimator<without_update, parabola> &&
              !Estimator<without_value, parabola>);
static_assert(Estimator<mini_batch, logistic_regression<float>, float>);

// Any objective has a mini batch of all; the others need samples, SAGA slopes as well.
struct sampled : parabola {
    std::size_t samples() const { return 2; }
    void batch_gradient(std::span<std::uint32_t const>, std::span<double const> x, std::span<double> g) const {
        gradient(x, g);
    }
};
static_assert(Estimator<mini_batch, parabola> && !Estimator<l_svrg<>, parabola> && !Estimator<saga<>, parabola>);
static_assert(Estimator<mini_batch, sampled> && Estimator<l_svrg<>, sampled> && !Estimator<saga<>, sampled>);
static_assert(Estimator<l_svrg<>, logistic_regression<>> && Estimator<saga<>, logistic_regression<>>);
static_assert(Estimator<l_svrg<float>, logistic_regression<float>, float> &&
              Estimator<saga<float>, logistic_regression<float>, float>);
static_assert(!Estimator<saga<>, logistic_regression<float>, float>);

TEST_CASE("the full gradient, and the value where it comes for nothing") {
    host on;
    mini_batch e;
    std::array<double, 1> const x{2};
    std::array<double, 1> g{};
    std::span<double const> const at(x);
    CHECK_FALSE(e(on, parabola{}, round_context{}, at, std::span<double>(g)).has_value());
    CHECK(g[0] == 6);
    g[0] = 0;
    CHECK(e(on, fused_parabola{}, round_context{}, at, std::span<double>(g)) == 6.);
    CHECK(g[0] == 6);
    e.update(on, at);
    CHECK(to_string(e) == "the full gradient");
}

// A mini batch draws rows evenly, is unbiased with one row's variance over its size, and needs samples.

using namespace samples;

TEST_CASE("rows are drawn from all, each as often, with repetitions, as the key says") {
    std::vector<std::uint32_t> drawn, again;
    std::vector<int> count(7);
    detail::draw_rows(key{3}, 7, 70000, drawn);
    CHECK(drawn.size() == 70000);
    for (auto const j : drawn) ++count.at(j);
    for (int const c : count) CHECK(std::abs(c - 10000) < 5 * std::sqrt(70000. / 7 * 6 / 7));  // five deviations
    detail::draw_rows(key{3}, 7, 70000, again);
    CHECK(again == drawn);
    detail::draw_rows(key{4}, 7, 70000, again);
    CHECK(again != drawn);
    detail::draw_rows(key{3}, 7, 5, again);  // fewer are the first ones
    CHECK(std::equal(again.begin(), again.end(), drawn.begin()));
}

TEST_CASE("unbiased, with one sample's variance over the size, over all that may be drawn") {
    auto const f = logistic_of(5, 4, 2);
    auto const x = point(4, 3);
    auto const whole = gradient_of(f, x);
    double of_one = 0;
    for (std::uint32_t j = 0; j < 5; ++j) {
        auto const g = gradient_of_row(f, j, x);
        for (std::size_t i = 0; i < 4; ++i) of_one += (g[i] - whole[i]) * (g[i] - whole[i]) / 5;
    }
    CHECK(of_one > 0.01);
    for (std::size_t const size : {1u, 2u, 3u}) {
        CAPTURE(size);
        mini_batch e{size};
        moments const found(e, f, all_draws(5, size), x);
        CHECK(distance(found.mean, whole) < 1e-14);
        CHECK(found.variance == doctest::Approx(of_one / static_cast<double>(size)).epsilon(1e-10));
    }
}

TEST_CASE("a batch is the mean of its rows' gradients, and the same when it is computed again") {
    auto const f = logistic_of(6, 3, 4);
    auto const x = point(3, 1);
    mini_batch e(4);
    auto const now = round_context::of({5}, 2, 1, 3);
    std::vector<std::uint32_t> drawn;
    detail::draw_rows(now.gradient, 6, 4, drawn);
    vec expected(3);
    for (auto const j : drawn) {
        auto const g = gradient_of_row(f, j, x);
        for (std::size_t i = 0; i < 3; ++i) expected[i] += g[i] / 4;
    }
    auto const found = estimated(e, f, now, x);
    CHECK(distance(found, expected) < 1e-15);
    CHECK(estimated(e, f, now, x) == found);
    CHECK(estimated(e, f, round_context::of({5}, 2, 2, 3), x) != found);  // every rank draws for itself
}

TEST_CASE("no size stands for the full gradient, which any objective has; else it needs samples") {
    struct plain_objective {
        std::size_t dimension() const { return 1; }
        double value(std::span<double const> x) const { return x[0]; }
        void gradient(std::span<double const>, std::span<double> g) const { g[0] = 1; }
    };
    auto const f = logistic_of(5, 3, 2);
    auto const x = point(3, 7);
    mini_batch all, some = 2;
    host on;
    vec g(3), one(1);
    auto const value = all(on, f, round_context{}, std::span<double const>(x), std::span<double>(g));
    CHECK(value == f.value(x));
    CHECK(g == gradient_of(f, x));
    CHECK_FALSE(some(on, f, round_context{}, std::span<double const>(x), std::span<double>(g)).has_value());
    CHECK(estimated(all, plain_objective{}, round_context{}, {5}) == vec{1});
    CHECK_THROWS_WITH_AS(estimated(some, plain_objective{}, round_context{}, {5}),
                         "batch = 2: this objective has no samples to draw from; it needs samples() and "
                         "batch_gradient(rows, x, g)",
                         argument_error);
}

TEST_CASE("its text has its arguments") {
    CHECK(to_string(mini_batch{}) == "the full gradient");
    CHECK(to_string(mini_batch{32}) == "mini_batch(32)");
}
