// SPDX-License-Identifier: Apache-2.0
// TernGrad is DCGD with one level of the largest magnitude, byte for byte, and clips at standard deviations.
#include "laconic/method/terngrad.hpp"

#include "support/sums.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace toys;

static_assert(Method<terngrad>);

TEST_CASE("without clipping it is dcgd with one level of the largest magnitude, byte for byte") {
    auto const f = random_ridges(3, 9, 1, 4);
    auto const p = constants(f);
    auto const a = history(terngrad{}.compose<double, host>(p), f, vec(9, 1.0), 20);
    auto const b = history(composed(dcgd{quantize{1, 0, p_norm::largest}}, p), f, vec(9, 1.0), 20);
    for (std::size_t k = 0; k <= 20; ++k) {
        CHECK(a[k].x == b[k].x);
        CHECK(a[k].bytes == b[k].bytes);
    }
    CHECK(a[1].bytes[0].size() == 8 + 2);  // a magnitude, and 9 ternary digits: 8 bits for five, 7 for four
}

TEST_CASE("its step: omega = (sqrt d - 1) / 2") {
    problem const p{9, 4, 2, .1, 3, 2.5};
    CHECK(terngrad{}.compose<double, host>(p).step.rate == doctest::Approx(1 / (2 + 2 * 3 / 4.)));
    problem noisy = p;
    noisy.largest_sample_smoothness = 6;
    CHECK(terngrad{0, {.batch = 3}}.compose<double, host>(noisy).step.rate ==
          doctest::Approx(1 / (2 + 2 * 3 / 4. + 2 * 2 * 6 / 12.)));
}

TEST_CASE("clipping cuts outliers: the largest number sent is clip x the standard deviation") {
    vec far(16, 1.0);
    far[3] = 17;  // the mean is 2, the deviation sqrt 15
    auto const f = around({far});
    auto const r = terngrad{1.5, {.step = 1}}.compose<double, host>(problem{});
    lockstep run(r, f, vec(16, 0.0), 1);
    run.round();
    double largest = 0;
    for (double const v : run.x()) largest = std::max(largest, std::abs(v));
    CHECK(largest == doctest::Approx(1.5 * std::sqrt(15.)).epsilon(1e-6));  // at outlier, whose rounding is exact
    CHECK(run.x()[3] == largest);
}

TEST_CASE("wrong arguments are refused with the reason") {
    problem const p{9, 4, 2, .1, 3, 2.5};
    CHECK_THROWS_WITH_AS((terngrad{2.5}.compose<double, host>(p)), doctest::Contains("terngrad: clipped gradients"),
                         theory_error);
    CHECK_THROWS_AS((terngrad{-1, {.step = .1}}.compose<double, host>(p)), argument_error);
    CHECK_THROWS_AS((terngrad{NAN, {.step = .1}}.compose<double, host>(p)), argument_error);
    CHECK_THROWS_AS((terngrad{0, {.memory = .1}}.compose<double, host>(p)), argument_error);
    CHECK_THROWS_WITH_AS((terngrad{}.compose<double, host>(problem{})), doctest::Contains("terngrad: its theorem"),
                         theory_error);
}

TEST_CASE("its text has its arguments") {
    CHECK(to_string(terngrad{}) == "terngrad");
    CHECK(to_string(terngrad{2.5, {.step = .1, .batch = 32}}) == "terngrad(clip=2.5, step=0.1, batch=32)");
}
