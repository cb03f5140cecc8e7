// SPDX-License-Identifier: Apache-2.0
// Cross-entropy is its formula in long double, bends by 1/2 at most, and neither overflows nor hides a NaN.
#include "laconic/objective/cross_entropy.hpp"

#include "support/everything.hpp"

using namespace laconic;

namespace {

template <class T = double>
std::pair<double, std::vector<T>> of(std::vector<T> z, std::size_t y) {
    double const value = cross_entropy(std::span<T>(z), y);
    return {value, z};
}

}  // namespace

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
        CHECK(value == doctest::Approx(expected).epsilon(1e-15));
        CHECK(slopes[1] == doctest::Approx(slope).epsilon(1e-15));
        CHECK(slopes[0] == doctest::Approx(-slope).epsilon(1e-15));
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
    CHECK(of<float>({0, 40}, 1).first == doctest::Approx(std::exp(-40)).epsilon(1e-6));
}
