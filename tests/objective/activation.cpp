// SPDX-License-Identifier: Apache-2.0
// Slopes of activations are those of differences, bounded as stated, and first weights have the named variance.
#include "laconic/objective/activation.hpp"

#include "support/everything.hpp"

static_assert(Activation<activation::relu> && Activation<activation::tanh>);

struct has_no_slope {
    static void apply(auto&) {}
    static double first_weight(double, double) { return 1; }
};
static_assert(!Activation<has_no_slope>);

template <class A>
double at(double u) {
    Eigen::MatrixXd h = Eigen::MatrixXd::Constant(1, 1, u);
    A::apply(h);
    return h(0, 0);
}
template <class A>
double slope(double u) {
    Eigen::MatrixXd h = Eigen::MatrixXd::Constant(1, 1, u), d = Eigen::MatrixXd::Constant(1, 1, 3);
    A::apply(h);
    A::multiply_by_slope(d, h);
    return d(0, 0) / 3;
}

TEST_CASE_TEMPLATE("activation: slopes are those of central differences, and at most 1", A, activation::relu,
                   activation::tanh) {
    CHECK(at<A>(0) == 0);
    for (double u = -5.05; u < 5; u += 0.1) {
        CAPTURE(u);
        CHECK(std::abs(slope<A>(u) - (at<A>(u + 1e-6) - at<A>(u - 1e-6)) / 2e-6) < 1e-9);
        CHECK(slope<A>(u) <= 1);
        CHECK(std::abs(at<A>(u)) <= std::abs(u));
    }
    CHECK(std::isnan(at<A>(std::nan(""))));
}

TEST_CASE_TEMPLATE("activation: bends are those of the slopes' central differences", A, activation::relu,
                   activation::tanh) {
    for (double u = -5.05; u < 5; u += 0.1) {
        CAPTURE(u);
        Eigen::MatrixXd h = Eigen::MatrixXd::Constant(1, 1, u), d = Eigen::MatrixXd::Constant(1, 1, 3);
        A::apply(h);
        A::multiply_by_bend(d, h);
        CHECK(std::abs(d(0, 0) / 3 - (slope<A>(u + 1e-6) - slope<A>(u - 1e-6)) / 2e-6) < 1e-9);
    }
}

TEST_CASE("activation: by hand") {
    CHECK(at<activation::relu>(-2) == 0);
    CHECK(at<activation::relu>(2) == 2);
    CHECK(slope<activation::relu>(0) == 0);
    CHECK(at<activation::tanh>(1) == doctest::Approx(std::tanh(1.)).epsilon(1e-15));
    CHECK(slope<activation::tanh>(0) == 1);
    CHECK(at<activation::tanh>(1000) == 1);

    Eigen::MatrixXf h(2, 3);
    h << -1, 0, 1, 2, -3, 4;
    activation::relu::apply(h);
    CHECK(h.sum() == 7);
}

TEST_CASE("activation: uniform up to first_weight has the variance that is named") {
    // b^2 / 3
    CHECK(std::pow(activation::relu::first_weight(50, 7), 2) / 3 == doctest::Approx(2 / 50.).epsilon(1e-15));
    CHECK(std::pow(activation::tanh::first_weight(50, 30), 2) / 3 == doctest::Approx(2 / 80.).epsilon(1e-15));
}
