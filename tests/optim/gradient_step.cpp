// SPDX-License-Identifier: Apache-2.0
// A gradient step moves x by -rate d, at any length, and leaves d as it is.
#include "laconic/optim/gradient_step.hpp"

#include "support/everything.hpp"

using namespace laconic;

static_assert(Step<gradient_step> && Step<gradient_step, float>);

TEST_CASE("x moves against d, at any length, and d stays") {
    host on;
    for (std::size_t n : {0u, 1u, 2u, 5u, 8u, 17u}) {
        std::vector<double> x(n, 10), d(n), expected(n);
        for (std::size_t j = 0; j < n; ++j) {
            d[j] = double(j) - 2;
            expected[j] = 11 - double(j) / 2;
        }
        auto const before = d;
        gradient_step{.5}(on, std::span(x), std::span(d));
        CHECK(x == expected);
        CHECK(d == before);
    }
    std::vector<float> x{1, 2}, d{4, -4};
    gradient_step{.25}(on, std::span(x), std::span(d));
    CHECK(x == std::vector<float>{0, 3});
}
