// SPDX-License-Identifier: Apache-2.0
// scaled_sign sends signs and a mean magnitude, with its exact error and a delta of 1 / d that is reached.
#include "laconic/compress/scaled_sign.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

using vec = std::vector<double>;

static_assert(Compressor<scaled_sign> && Compressor<scaled_sign, float> && Contractive<scaled_sign> &&
              !Unbiased<scaled_sign>);

// The mean magnitude is (1 + 2 + 3 + 0) / 4 = 1.5; one number and four bits cross.
TEST_CASE("by hand") {
    vec const x{1, -2, 3, 0};
    auto const m = laws::compress(scaled_sign{}, x, key{});
    CHECK(laws::decoded<decltype(m), double>(m) == vec{1.5, -1.5, 1.5, 1.5});
    CHECK(bits(m) == 64 + 8);  // four signs in a byte
    CHECK(laws::received(scaled_sign{2}, x, key{}) == vec{1.5, -1.5, 1.5, 1.5});
    CHECK(laws::received(scaled_sign{3}, x, key{}) == vec{2, -2, 2, 0});
    CHECK(laws::received(scaled_sign{}, vec{-0.0, 0.0}, key{}) == vec{0, 0});
}

TEST_CASE("the error is |x|^2 - |x|_1^2 / d, and delta = 1 / d is reached where one value stands alone") {
    for (vec const& x : {vec{1, -2, 3, 0}, vec{5, 5, 5}, vec{0, 0, -7, 0, 0}, vec{1e-3, 100}}) {
        double const error = laws::error_of(scaled_sign{}, x), square = laws::energy(x),
                     d = static_cast<double>(x.size());
        double sum = 0;
        for (double const v : x) sum += std::abs(v);
        CHECK(error == doctest::Approx(square - sum * sum / d).epsilon(1e-12));
        if (x[2 % x.size()] == -7)
            CHECK(error == doctest::Approx((1 - scaled_sign{}.delta(5)) * square).epsilon(1e-12));
    }
    CHECK(scaled_sign{}.delta(8) == 0.125);
    CHECK(scaled_sign{4}.delta(8) == 0.25);
    CHECK(scaled_sign{16}.delta(8) == 0.125);
    CHECK((top_k{4} | scaled_sign{}).delta(8) == 0.125);
}

TEST_CASE("a mean magnitude that is not finite is refused") {
    for (double const v : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
        CHECK_THROWS_AS(laws::compress(scaled_sign{}, vec{1, v}, key{}), argument_error);
}
