// SPDX-License-Identifier: Apache-2.0
// The full gradient is the objective's, with the value where it is free, and Estimator asks for samples and slopes.
#include "laconic/estimate/estimator.hpp"

#include "support/everything.hpp"

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

static_assert(Estimator<full_gradient, parabola> && Estimator<full_gradient, fused_parabola>);
static_assert(Estimator<doubled, parabola> && !Estimator<without_update, parabola> &&
              !Estimator<without_value, parabola>);
static_assert(Estimator<full_gradient, logistic_regression<float>, float>);

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
    full_gradient e;
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
