// SPDX-License-Identifier: Apache-2.0
// quantize is unbiased with the exact moments of its grid, and its omega is attained by the worst vectors.
#include "laconic/compress/quantize.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

using vec = std::vector<double>;

static_assert(Compressor<quantize> && Compressor<quantize, float> && Unbiased<quantize>);

using laws::sent_by;

// The buckets (1, -2), (4, 0) and (3) have the largest magnitudes 2, 4 and 3; two levels make the steps 1, 2 and 1.5.
TEST_CASE("by hand") {
    auto const m = laws::compress(quantize{2, 2, p_norm::largest}, vec{1, -2, 4, 0, 3}, key{1});
    CHECK(m.steps == vec{1, 2, 1.5});
    CHECK(m.codes == std::vector<std::int8_t>{1, -2, 2, 0, 2});
    CHECK(m.wide_codes.empty());
    // |(3, 4)| = 5: with one level, each is 0 or 5.
    auto const q = sent_by(quantize{1}, vec{3, 4});
    for (double v : q) CHECK((v == 0 || v == 5));
    CHECK(sent_by(quantize{1, 0, p_norm::one}, vec{0, -7, 0}) == vec{0, -7, 0});
    CHECK(laws::compress(quantize{4}, vec(5, 0.0), key{1}).steps == vec{0});
}

TEST_CASE("the moments of section 9.3, exactly") {
    struct {
        vec x;
        double variance[3], nonzeros[3];
    } const one_level[] = {
        {{3, 4}, {24, 10, 3}, {1, 1.4, 1.75}},
        {{1, 2, 2}, {16, 6, 1}, {1, 5.0 / 3, 2.5}},
        {{3, 1, 1, 1, 1}, {36, 12.2388589282, 8}, {1, 1.94145069, 7.0 / 3}},
    };
    for (auto const& c : one_level)
        for (int p = 0; p < 3; ++p) {
            auto const m = laws::moments_by_values(quantize{1, 0, p_norm(p)}, c.x);
            CHECK(m.variance == doctest::Approx(c.variance[p]).epsilon(1e-11));
            CHECK(m.nonzeros == doctest::Approx(c.nonzeros[p]).epsilon(1e-8));
        }
    struct {
        vec x;
        double variance[3];
    } const levels[] = {{{3, 4}, {10, 2.5, 0.625}}, {{1, 2, 2}, {6, 1.5, 0.375}}};
    for (auto const& c : levels)
        for (int j = 0; j < 3; ++j)
            CHECK(laws::moments_by_values(quantize{1 << j}, c.x).variance ==
                  doctest::Approx(c.variance[j]).epsilon(1e-14));
}

TEST_CASE("blocks: the moments of a vector are the sums over its buckets") {
    auto const m = laws::moments_by_values(quantize{1, 2, p_norm::one}, vec{3, 4, 1, 2, 2});
    CHECK(m.variance == doctest::Approx(24 + 4));  // (1, 2): 3 x 3 - 5 = 4; a bucket of one number is exact
    CHECK(m.nonzeros == doctest::Approx(3));
}

// Section 1.2: alpha_p is attained by equal magnitudes for p = 1 and 2, by (1, t, .., t), t = 1 / (1 + sqrt d), for
// inf.
TEST_CASE("the worst vectors attain omega = 1 / alpha - 1 of one level") {
    for (std::size_t d : {2u, 4u, 9u, 16u}) {
        double const n = static_cast<double>(d);
        CHECK(quantize{1, 0, p_norm::one}.omega(d) == doctest::Approx(n - 1));
        CHECK(quantize{1, 0, p_norm::two}.omega(d) == doctest::Approx(std::sqrt(n) - 1));
        CHECK(quantize{1, 0, p_norm::largest}.omega(d) == doctest::Approx((std::sqrt(n) - 1) / 2));
        vec const equal(d, -2.0);
        vec worst(d, 1 / (1 + std::sqrt(n)));
        worst[d / 2] = 1;
        auto const ratio = [](quantize const& q, vec const& x) {
            return laws::moments_by_values(q, x).variance / laws::energy(x) / q.omega(x.size());
        };
        CHECK(ratio(quantize{1, 0, p_norm::one}, equal) == doctest::Approx(1).epsilon(1e-12));
        CHECK(ratio(quantize{1, 0, p_norm::two}, equal) == doctest::Approx(1).epsilon(1e-12));
        CHECK(ratio(quantize{1, 0, p_norm::largest}, worst) == doctest::Approx(1).epsilon(1e-12));
    }
}

// With |x_i| = |x| / 2 and an odd number of levels, every quotient ends in a half: the largest variance there is.
TEST_CASE("omega of more levels is attained, too, and is below the papers'") {
    vec const equal(4, 1.0);
    for (int s : {3, 5, 31}) {
        quantize const q{s};
        CHECK(laws::moments_by_values(q, equal).variance == doctest::Approx(q.omega(4) * 4).epsilon(1e-12));
    }
    for (int s : {1, 2, 4, 16, 255})
        for (std::size_t d : {1u, 2u, 10u, 784u, 100000u}) {
            double const n = static_cast<double>(d);
            CHECK(quantize{s}.omega(d) <= std::min(n / (s * s), std::sqrt(n) / s));
            CHECK(quantize{s, 10}.omega(d) == doctest::Approx(quantize{s}.omega(std::min(d, std::size_t{10}))));
        }
    CHECK(quantize{1}.omega(1) == 0);
    CHECK(quantize{}.omega(0) == 0);
}

TEST_CASE("parameters are checked") {
    for (int const bad : {0, -1, 32768, std::numeric_limits<int>::max()})
        CHECK_THROWS_AS(quantize{bad}.check(5), argument_error);
    CHECK_THROWS_AS((quantize{1, 0, p_norm(-1)}.check(5)), argument_error);
    CHECK_THROWS_AS((quantize{1, 0, p_norm(3)}.check(5)), argument_error);
    CHECK_NOTHROW(quantize{32767}.check(5));
}

TEST_CASE("any bucket length is one, the largest too") {
    std::size_t const most = std::numeric_limits<std::size_t>::max();
    vec const x{3, -4, 12};
    for (std::size_t bucket : {std::size_t{3}, std::size_t{4}, most - 1, most}) {
        auto const m = laconic::compress(quantize{4, bucket}, x, key{2});
        REQUIRE(m.steps.size() == 1);
        CHECK(m.codes == compress(quantize{4}, x, key{2}).codes);
    }
    CHECK(compress(quantize{4, most}, vec{}, key{2}).steps.empty());
}

TEST_CASE("a norm that is not finite is refused, one just below is not") {
    double const max = std::numeric_limits<double>::max();
    float const top = std::numeric_limits<float>::max();
    CHECK_THROWS_AS(sent_by(quantize{1}, vec{max, max}), argument_error);
    CHECK_THROWS_AS(sent_by(quantize{1, 0, p_norm::one}, vec{max, max}), argument_error);
    CHECK_THROWS_AS(sent_by(quantize{1}, std::vector<float>{top, top}), argument_error);
    CHECK_THROWS_AS(sent_by(quantize{1, 0, p_norm::one}, std::vector<float>{top, top}), argument_error);
    CHECK(sent_by(quantize{1, 0, p_norm::largest}, vec{max, -max}) == vec{max, -max});
    CHECK(sent_by(quantize{1, 1}, vec{max, -max}) == vec{max, -max});
    for (double const bad : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
        CHECK_THROWS_AS(sent_by(quantize{1, 0, p_norm::one}, vec{1, bad}), argument_error);
    // The largest number, in 3 or 25 parts that are each rounded up: a grid that ends at infinity is refused as well.
    for (int levels = 1; levels < 300; ++levels) {
        CAPTURE(levels);
        try {
            for (double v : sent_by(quantize{levels, 0, p_norm::largest}, vec{max, -max})) REQUIRE(std::isfinite(v));
        } catch (argument_error const&) {
        }
        try {
            for (float v : sent_by(quantize{levels, 0, p_norm::largest}, std::vector<float>{top}))
                REQUIRE(std::isfinite(v));
        } catch (argument_error const&) {
        }
    }
}

TEST_CASE("unbiased where squares underflow or overflow, and on a grid of subnormal numbers") {
    float const tiny = std::numeric_limits<float>::denorm_min();
    for (auto const& q : {quantize{4, 0, p_norm::largest}, quantize{2, 0, p_norm::largest}, quantize{3}, quantize{4}})
        laws::has_mean(q, std::vector<float>{5 * tiny, -3 * tiny, tiny, 0}, key{4}, 20000);
    for (double const scale : {0x1p-600, 0x1p600}) {
        vec x{3, -4, 1, 0.5};
        for (double& v : x) v *= scale;
        auto const m = laws::moments_of(quantize{2}, x, 20000, key{5});
        for (std::size_t i = 0; i < 4; ++i)
            CHECK(std::abs(m.mean[i] - x[i]) / scale <
                  5 * std::sqrt(std::abs(x[i] / scale) * (m.largest / scale) / 20000));
    }
}

// The same vector at three scales has the same variance relative to its square, as any norm demands.
TEST_CASE("omega holds where squares underflow or overflow") {
    vec worst(100, 1.0 / 11);
    worst[0] = 1;
    for (double const scale : {1.0, 0x1p600, 0x1p-600}) {
        CAPTURE(scale);
        vec x(worst);
        for (double& v : x) v *= scale;
        double error = 0;
        for (std::uint64_t k = 0; k < 2000; ++k) {
            auto const v = sent_by(quantize{1}, x, k);
            for (std::size_t i = 0; i < x.size(); ++i) error += std::pow((v[i] - x[i]) / scale, 2) / 2000;
        }
        CHECK(error <= 1.1 * quantize{1}.omega(100) * laws::energy(worst));
    }
}

TEST_CASE("its text names what differs from the default") {
    CHECK(to_string(quantize{}) == "quantize(1)");
    CHECK(to_string(quantize{8}) == "quantize(8)");
    CHECK(to_string(quantize{8, 128}) == "quantize(8, bucket=128)");
    CHECK(to_string(quantize{1, 0, p_norm::one}) == "quantize(1, p=1)");
    CHECK(to_string(quantize{2, 64, p_norm::largest}) == "quantize(2, bucket=64, p=inf)");
}
