// SPDX-License-Identifier: Apache-2.0
// Losses of outputs are their formulas, with the slopes and bends of differences; classes count from 0. Cross-entropy
// is its formula in long double, bends by 1/2 at most, and neither overflows nor hides a NaN.
#include "laconic/objective/output_loss.hpp"

#include "support/drawn.hpp"
#include "support/everything.hpp"

static_assert(OutputLoss<squared_output<>> && OutputLoss<squared_output<float>> && OutputLoss<class_output<>> &&
              OutputLoss<no_loss>);

std::vector<double> slopes(auto const& l, std::vector<double> z, std::size_t j) {
    l.loss(std::span<double>(z), j);
    return z;
}
double value(auto const& l, std::vector<double> z, std::size_t j) { return l.loss(std::span<double>(z), j); }

void derivatives_are_true(auto const& l, std::vector<double> const& z, std::size_t j) {
    auto const s = slopes(l, z, j);
    for (std::size_t c = 0; c < z.size(); ++c) {
        auto up = z, down = z;
        up[c] += 1e-5, down[c] -= 1e-5;
        CHECK(s[c] == doctest::Approx((value(l, up, j) - value(l, down, j)) / 2e-5).epsilon(1e-8));
        std::vector<double> v(z.size());
        v[c] = 2;
        l.multiply_by_bend(std::span<double const>(s), j, std::span(v));
        auto const above = slopes(l, up, j), below = slopes(l, down, j);
        for (std::size_t b = 0; b < z.size(); ++b)
            CHECK(v[b] == doctest::Approx((above[b] - below[b]) / 1e-5).epsilon(1e-8));
    }
}

// The cross-entropy, and what is left in z.
template <class T = double>
std::pair<double, std::vector<T>> of(std::vector<T> z, std::size_t y) {
    double const value = cross_entropy(std::span<T>(z), y);
    return {value, z};
}
dataset<> labelled(std::vector<double> labels) { return {"toy", {}, std::move(labels)}; }

TEST_CASE("squared_output: by hand, and by differences") {
    auto data = drawn::data(4, 2);
    data.labels = {0, 3, -1, 2};
    squared_output<> const l(data);
    CHECK(l.rows() == 4);
    CHECK(l.outputs() == 1);
    CHECK(value(l, {1}, 1) == 4);
    CHECK(slopes(l, {1}, 1) == std::vector<double>{-4});
    derivatives_are_true(l, {0.3}, 2);
    data.labels[1] = std::nan("");
    CHECK_THROWS_WITH_AS(squared_output<>{data}, "drawn: the label of row 1 is not finite", argument_error);
}

TEST_CASE("class_output: by hand, and by differences") {
    auto const data = drawn::data(9, 2, 1, 3);
    class_output<> const l(data);
    CHECK(l.classes() == std::vector<double>{0, 1, 2});
    CHECK(l.right(2) == 2);
    CHECK(value(l, {0, 0, 0}, 0) == doctest::Approx(std::log(3.)));
    derivatives_are_true(l, {0.3, -0.5, 1.1}, 0);
    derivatives_are_true(l, {0.3, -0.5, 1.1}, 2);
    CHECK_THROWS_AS(class_output<>(data, {0, 1}), argument_error);
}

TEST_CASE("no_loss: nothing, of any outputs") {
    no_loss const l{3, 7};
    CHECK(l.outputs() == 3);
    CHECK(l.rows() == 7);
    CHECK(value(l, {1, 2, 3}, 0) == 0);
    CHECK(slopes(l, {1, 2, 3}, 0) == std::vector<double>(3));
    std::vector<double> v{1, 2, 3};
    l.multiply_by_bend(std::span<double const>(v), 0, std::span(v));
    CHECK(v == std::vector<double>(3));
}

TEST_CASE("cross_entropy: against the formula in long double") {
    for (std::size_t y = 0; y < 4; ++y) {
        std::vector<double> const z{0.3, -1.7, 2.5, 2.4};
        long double sum = 0;
        for (double v : z) sum += std::exp(static_cast<long double>(v));
        auto const [value, slopes] = of(z, y);
        CHECK(value == doctest::Approx(double(std::log(sum) - z[y])).epsilon(1e-15));
        for (std::size_t c = 0; c < 4; ++c)
            CHECK(slopes[c] ==
                  doctest::Approx(double(std::exp(static_cast<long double>(z[c])) / sum - (c == y))).epsilon(1e-15));
    }
}

TEST_CASE("cross_entropy: two classes are the logistic loss of their difference, to the last digits") {
    for (double m = -40; m <= 40; m += 0.7) {
        CAPTURE(m);
        auto const [value, slopes] = of({0, m}, 1);
        auto const [expected, slope] = logistic_loss::value_and_slope(m, 1);
        CHECK(value == doctest::Approx(expected).epsilon(1e-15).scale(0));
        CHECK(slopes[1] == doctest::Approx(slope).epsilon(1e-15).scale(0));
        CHECK(slopes[0] == doctest::Approx(-slope).epsilon(1e-15).scale(0));
    }
}

TEST_CASE("cross_entropy: it bends by at most 1/2, which two equal classes reach") {
    double const step = 1e-6;
    auto const up = of({step, -step}, 0).second, down = of({-step, step}, 0).second;
    CHECK((up[0] - down[0]) / (2 * step) == doctest::Approx(0.5).epsilon(1e-9));  // along (1, -1), of square 2
    CHECK((up[1] - down[1]) / (2 * step) == doctest::Approx(-0.5).epsilon(1e-9));
}

TEST_CASE("cross_entropy: nothing overflows, and equal classes share") {
    CHECK(of({1e308, -1e308, 0}, 0).first == 0);
    CHECK(of({1e300, 0, 5}, 1).first == 1e300);
    CHECK(of({1e300, 0, 5}, 1).second == std::vector<double>{1, -1, 0});
    CHECK(of({-800, -800, -800, -800}, 2).first == doctest::Approx(std::log(4)).epsilon(1e-15));
    CHECK(of({-800, -800, -800, -800}, 2).second == std::vector<double>{0.25, 0.25, -0.75, 0.25});
    CHECK(of({3}, 0).first == 0);
    CHECK(of({3}, 0).second == std::vector<double>{0});
}

TEST_CASE("cross_entropy: what is not a number shows") {
    double const nan = std::nan("");
    for (std::size_t at = 0; at < 3; ++at)
        for (std::size_t y = 0; y < 3; ++y) {
            std::vector<double> z{1, 2, 3};
            z[at] = nan;
            CHECK(std::isnan(of(z, y).first));
        }
    CHECK(!std::isfinite(of({std::numeric_limits<double>::infinity(), 0}, 1).first));
    CHECK(!std::isfinite(of({std::numeric_limits<double>::infinity(), 0}, 0).first));
}

TEST_CASE("cross_entropy: in single precision too") {
    auto const [value, slopes] = of<float>({0.5f, -2, 1}, 0);
    auto const [expected, exact] = of({0.5, -2, 1}, 0);
    CHECK(value == expected);
    for (std::size_t c = 0; c < 3; ++c) CHECK(slopes[c] == doctest::Approx(exact[c]).epsilon(1e-6));
    CHECK(of<float>({0, 40}, 1).first / std::exp(-40) == doctest::Approx(1).epsilon(1e-6));
}

TEST_CASE("class_index: places count from 0 in increasing order of the labels") {
    auto const data = labelled({7, -3, 0, 7});
    CHECK(class_index(data, classes(data)) == std::vector<std::uint32_t>{2, 0, 1, 2});
    CHECK(class_index(data, {-3, 0, 4, 7, 9}) == std::vector<std::uint32_t>{3, 0, 1, 3});
    CHECK(class_index(labelled({}), {1, 2}).empty());
    CHECK(class_index(dataset<float>{"single", {}, {2, 1}}, {1, 2}) == std::vector<std::uint32_t>{1, 0});
}

TEST_CASE("class_index: what names no classes is refused") {
    auto const data = labelled({1, 2});
    CHECK_THROWS_WITH_AS(class_index(data, {1}), "toy: two classes are needed, not 1", argument_error);
    CHECK_THROWS_AS(class_index(data, {}), argument_error);
    CHECK_THROWS_WITH_AS(class_index(data, {1, 2.5}), "toy: the class 2.5 is no whole number", argument_error);
    CHECK_THROWS_AS(class_index(data, {1, std::nan("")}), argument_error);
    CHECK_THROWS_AS(class_index(data, {1, std::numeric_limits<double>::infinity()}), argument_error);
    CHECK_THROWS_WITH_AS(class_index(data, {2, 1}), "toy: the classes do not increase at 1", argument_error);
    CHECK_THROWS_AS(class_index(data, {1, 2, 2}), argument_error);
    CHECK_THROWS_WITH_AS(class_index(data, {1, 3}), "toy: the label 2 is none of the 2 classes", argument_error);
    CHECK_THROWS_AS(class_index(data, {0, 1}), argument_error);
}
