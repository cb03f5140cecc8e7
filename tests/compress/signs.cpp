// SPDX-License-Identifier: Apache-2.0
// scaled_sign sends signs and a mean magnitude, with its exact error and a delta of 1 / d that is reached.
// two_means sends the mean of either sign's numbers, with its exact error and a delta of 1 / b that is reached.
// vote sends one bit a number and nothing else, has no omega or delta, and is read without the compressor.
#include "laconic/compress/signs.hpp"

#include "named.hpp"
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

static_assert(Compressor<vote> && Compressor<vote, float> && !Contractive<vote> && !Unbiased<vote>);

TEST_CASE("by hand: a bit a number, and nothing else") {
    vec const x{1, -2, 3, 0, -0.0, -1e-300};
    auto const m = laws::compress(vote{}, x, key{});
    CHECK(laws::decoded<decltype(m), double>(m) == vec{1, -1, 1, 1, 1, -1});
    CHECK(account(m).scalars() == 0);
    CHECK(account(m).values() == 6);
    CHECK(bits(m) == 8);
    CHECK(bits_as_paper(m) == 6);
    CHECK(bits(laws::compress(vote{}, vec(1024, -3.0), key{})) == 1024);
    CHECK(laws::received(vote{}, vec{}, key{}).empty());
}

TEST_CASE("on the numbers that a sparsifier chose") {
    CHECK(laws::received(top_k{2} | vote{}, vec{1, -2, 3, 0}, key{}) == vec{0, -1, 1, 0});
}

TEST_CASE("strangers read it") {
    for (std::size_t const d : {0u, 1u, 63u, 64u, 65u, 130u}) {
        auto const x = laws::noise<double>(d, d + 1);
        auto const m = laws::compress(vote{}, x, key{});
        auto const read = read_described(write_described(m));
        CHECK(read.dense);
        CHECK(read.values == laws::decoded<decltype(m), double>(m));
    }
    auto const two = laws::compress(top_k{2} | vote{}, vec{1, -2, 3, 0}, key{});
    auto const read = read_described(write_described(two));
    CHECK(read.at == std::vector<std::uint64_t>{1, 2});
    CHECK(read.values == vec{-1, 1});
}

TEST_CASE("numbers that are not finite are refused") {
    for (double const v : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
        CHECK_THROWS_WITH_AS(laws::unchecked(vote{}, vec{1, v}), "vote: coordinate 1 is not finite", argument_error);
    double const large = std::numeric_limits<double>::max();
    CHECK(laws::received(vote{}, vec{large, -large, large}, key{}) == vec{1, -1, 1});
}

TEST_CASE("it has neither constant, nor has a pipe that ends with it") {
    for (char const* const text : {"vote", "top_k(3) | vote", "rand_k(3) | vote", "dense | vote"}) {
        CAPTURE(text);
        auto const c = parse_compressor(text);
        CHECK_FALSE(c.unbiased());
        CHECK_FALSE(c.contractive());
        CHECK_THROWS_AS(c.omega(8), theory_error);
        CHECK_THROWS_AS(c.delta(8), theory_error);
    }
    CHECK(to_string(vote{}) == "vote");
}
