// SPDX-License-Identifier: Apache-2.0
// The objective of the weights of an ensemble: T4.2 by hand, its derivatives by differences, and T4.4.
#include "laconic/objective/mixture.hpp"

#include "support/drawn.hpp"
#include "support/everything.hpp"

static_assert(HessianObjective<mixture<squared_output<>, float>> && HessianObjective<mixture<class_output<>, double>>);

dataset<> labelled(std::vector<double> labels) {
    dataset<> data{"labelled", {}, std::move(labels)};
    data.rows.resize(static_cast<std::ptrdiff_t>(data.labels.size()), 1);
    return data;
}

TEST_CASE("T4.2: orthonormal members, where the weights are soft thresholds of their products with the labels") {
    squared_output<> const loss(labelled({3, 1, 2, 0}));
    std::vector<double> const first{1, 1, 1, 1}, second{1, -1, 1, -1};
    struct expected {
        double lambda, beta, w0, w1, f;
    };
    for (auto const& e :
         {expected{0, 0, 1.5, 1, .25}, {.5, 0, 1.25, .5, 1.6875}, {0, .4, 1.3, .8, 1.17}, {1, .2, .9, 0, 2.69}}) {
        mixture<squared_output<>, double> mix(loss);
        mix.add(first, e.lambda * 1 + e.beta);
        mix.add(second, e.lambda * 2 + e.beta);
        std::vector<double> w{.5, .5};
        double const f = mix.fit(w);
        CHECK(w[0] == doctest::Approx(e.w0).epsilon(1e-14));
        CHECK(std::abs(w[1] - e.w1) < 1e-14);
        CHECK((e.w1 != 0 || w[1] == 0));
        CHECK(f == doctest::Approx(e.f).epsilon(1e-14));
        CHECK(mix.penalised(w) == f);
    }
}

TEST_CASE("mixture: by definition, with the derivatives of differences; float members are read exactly") {
    auto const data = drawn::data(12, 2, 1, 3);
    class_output<> const loss(data);
    std::vector<std::vector<float>> members;
    for (std::uint64_t j = 0; j < 4; ++j) members.push_back(drawn::point<float>(36, j, 2));
    mixture<class_output<>, float> mix(loss);
    for (std::size_t j = 0; j < 4; ++j) mix.add(members[j], 0.1 * double(j));
    std::vector<double> const w{0.4, -0.3, 1.2, 0.7};
    double sum = 0;
    for (std::size_t i = 0; i < 12; ++i) {
        std::vector<double> z(3);
        for (std::size_t c = 0; c < 3; ++c)
            for (std::size_t j = 0; j < 4; ++j) z[c] += w[j] * double(members[j][3 * i + c]);
        sum += loss.loss(std::span<double>(z), i) / 12;
    }
    CHECK(mix.value(w) == doctest::Approx(sum).epsilon(1e-14));
    CHECK(mix.penalised(w) == doctest::Approx(sum + 0.1 * 0.3 + 0.2 * 1.2 + 0.3 * 0.7).epsilon(1e-14));
    Eigen::MatrixXd h;
    mix.hessian(w, h);
    auto const g = drawn::gradient(mix, w);
    for (std::size_t j = 0; j < 4; ++j) {
        auto up = w, down = w;
        up[j] += 1e-5, down[j] -= 1e-5;
        CHECK(g[j] == doctest::Approx((mix.value(up) - mix.value(down)) / 2e-5).epsilon(1e-8));
        auto const above = drawn::gradient(mix, up), below = drawn::gradient(mix, down);
        for (std::size_t i = 0; i < 4; ++i)
            CHECK(h(Eigen::Index(i), Eigen::Index(j)) == doctest::Approx((above[i] - below[i]) / 2e-5).epsilon(1e-7));
    }
}

TEST_CASE_TEMPLATE(
    "T4.4: weights that are fitted have F of at most equal ones, and a larger lambda never more complexity", Loss,
    squared_output<>, class_output<>) {
    auto const data = drawn::data(40, 2, 1, 3);
    Loss const loss(data);
    std::vector<std::vector<double>> members;
    for (std::uint64_t j = 0; j < 4; ++j) members.push_back(drawn::point(40 * loss.outputs(), j));
    for (std::size_t i = 0; i < 40 * loss.outputs(); ++i) members[3][i] = members[2][i] + 0.01 * members[1][i];
    double before = 1e300;
    for (double const lambda : {0., 1e-4, 1e-3, 1e-2, 0.1, 1.}) {
        mixture<Loss, double> mix(loss);
        for (std::size_t j = 0; j < 4; ++j) mix.add(members[j], lambda * std::sqrt(double(j + 1)));
        std::vector<double> w(4, 0.25);
        double const uniform = mix.penalised(w), f = mix.fit(w);
        CHECK(f <= uniform);
        auto from_zero = std::vector<double>(4);
        CHECK(mix.fit(from_zero) == doctest::Approx(f).epsilon(1e-12));
        double complexity = 0;
        for (std::size_t j = 0; j < 4; ++j) complexity += std::sqrt(double(j + 1)) * std::abs(w[j]);
        CHECK(complexity <= before * (1 + 1e-9));
        before = complexity;
    }
    CHECK(before == 0);
}
