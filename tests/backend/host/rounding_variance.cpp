// SPDX-License-Identifier: Apache-2.0
// `rounding_variance` is the variance of `round_to_levels`, by hand and by 4000 roundings.
#include "laconic/backend/host/rounding_variance.hpp"

#include "support/everything.hpp"

using namespace laconic;

namespace {

template <class T>
double variance(std::vector<T> const& x, T step) {
    host on;
    return rounding_variance(on, std::span<T const>(x), step);
}

}  // namespace

TEST_CASE_TEMPLATE("by hand: quarters of a step above, below and on the grid", T, float, double) {
    CHECK(variance<T>({}, T(1)) == 0);
    CHECK(variance<T>({0, 2, -4, 6}, T(2)) == 0);
    CHECK(variance<T>({.5}, T(2)) == 3. / 16);
    CHECK(variance<T>({-1.5}, T(2)) == 3. / 16);
    CHECK(variance<T>({1, -3, 5}, T(2)) == 3. / 4);
    CHECK(variance<T>({2.5, 65534.5}, T(2)) == 2 * 3. / 16);
}

TEST_CASE_TEMPLATE("every element of every length counts", T, float, double) {
    for (std::size_t d = 1; d <= 40; ++d) {
        std::vector<T> x(d, T(3));
        CHECK(variance(x, T(2)) == double(d) / 4);
        for (std::size_t i = 0; i < d; ++i) {
            x[i] = 4;
            CHECK(variance(x, T(2)) == double(d - 1) / 4);
            x[i] = 3;
        }
    }
}

// Of many roundings of the same numbers.
TEST_CASE_TEMPLATE("it is the variance of round_to_levels", T, float, double) {
    host on;
    T const step(.125);
    std::vector<T> x(37);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(key{3}.uniform(i) - .5) * 20;
    std::vector<std::int16_t> codes(x.size());
    double sum = 0;
    std::size_t const runs = 4000;
    for (std::uint64_t r = 0; r < runs; ++r) {
        round_to_levels(on, std::span<T const>(x), step, 100, key{r}, 0, std::span(codes));
        for (std::size_t i = 0; i < x.size(); ++i) {
            double const off = double(codes[i]) - double(x[i]) / double(step);
            sum += off * off / runs;
        }
    }
    CHECK(variance(x, step) == doctest::Approx(sum).epsilon(.01));
}
