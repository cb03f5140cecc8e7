// SPDX-License-Identifier: Apache-2.0
// two_means sends the mean of either sign's numbers, with its exact error and a delta of 1 / b that is reached.
#include "laconic/compress/two_means.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

using vec = std::vector<double>;

static_assert(Compressor<two_means> && Compressor<two_means, float> && Contractive<two_means> && !Unbiased<two_means>);

using laws::error_of;
using laws::sent_by;

// The negative numbers' mean is (-2 - 4) / 2 = -3, that of the others (1 + 3 + 0 + 0) / 4 = 1.
TEST_CASE("by hand") {
    vec const x{1, -2, 3, 0, -4, -0.0};
    auto const m = laws::compress(two_means{}, x, key{});
    CHECK(m.below == vec{3});
    CHECK(m.above == vec{1});
    CHECK(sent_by(two_means{}, x) == vec{1, -3, 1, 1, -3, 1});
    CHECK(bits(m) == 2 * 64 + 8);
    CHECK(account(m).unpadded() == 2 * 64 + 6);
    // Buckets (1, -2, 3, 0) and (-4, -0).
    CHECK(sent_by(two_means{4}, x) == vec{vec{4. / 3, -2, 4. / 3, 4. / 3, -4, 0}});
    // A bucket of one sign has no other mean.
    auto const negative = laws::compress(two_means{}, vec{-1, -3}, key{});
    CHECK(negative.below == vec{2});
    CHECK(negative.above == vec{0});
    CHECK(sent_by(two_means{1}, x) == x);
}

TEST_CASE("the error is |x|^2 less the energy of the means, and at most that of one mean magnitude") {
    for (std::uint64_t k = 0; k < 100; ++k) {
        vec const x = laws::noise<double>(1 + k % 20, k, 2);
        double negative = 0, rest = 0, negatives = 0, rests = 0;
        for (double const v : x) {
            (v < 0 ? negative : rest) += v;
            (v < 0 ? negatives : rests) += 1;
        }
        double const kept =
            (negatives > 0 ? negative * negative / negatives : 0) + (rests > 0 ? rest * rest / rests : 0);
        double const magnitudes = rest - negative, square = laws::energy(x), b = static_cast<double>(x.size());
        CHECK(std::abs(error_of(two_means{}, x) - (square - kept)) <= 1e-13 * square);
        CHECK(kept >= magnitudes * magnitudes / b * (1 - 1e-13));
        CHECK(magnitudes * magnitudes / b >= two_means{}.delta(x.size()) * square * (1 - 1e-13));
    }
}

TEST_CASE("delta = 1 / b is reached where one positive number stands alone; a negative one alone is exact") {
    for (std::size_t const d : {1u, 2u, 5u, 70u}) {
        vec x(d, 0.0);
        x[d / 2] = 7;
        CHECK(error_of(two_means{}, x) == doctest::Approx((1 - two_means{}.delta(d)) * 49).epsilon(1e-12));
        x[d / 2] = -7;
        CHECK(error_of(two_means{}, x) == 0);
    }
    CHECK(two_means{}.delta(8) == 0.125);
    CHECK(two_means{4}.delta(8) == 0.25);
    CHECK(two_means{16}.delta(8) == 0.125);
    CHECK(two_means{}.delta(0) == 1);
}

TEST_CASE_TEMPLATE("sums that are not finite are refused, means of large numbers are not", T, float, double) {
    using limits = std::numeric_limits<T>;
    for (T const bad : {limits::infinity(), -limits::infinity(), limits::quiet_NaN()})
        CHECK_THROWS_WITH_AS(laws::unchecked(two_means{}, std::vector<T>{1, bad}),
                             "two_means: coordinate 1 is not finite", argument_error);
    std::vector<T> const large{limits::max(), -limits::max()};
    CHECK(sent_by(two_means{}, large) == large);
    std::vector<float> const floats(20, std::numeric_limits<float>::max());  // their sum is a double
    CHECK(sent_by(two_means{}, floats) == floats);
    CHECK_THROWS_AS(sent_by(two_means{}, vec(2, std::numeric_limits<double>::max())), argument_error);
}
