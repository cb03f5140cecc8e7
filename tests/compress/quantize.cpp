// SPDX-License-Identifier: Apache-2.0
// quantize is unbiased with the exact moments of its grid, and its omega is attained by the worst vectors.
// damped_quantize is contractive with a delta that is reached, and loses no more than scaled_down.
// uniform rounds on a grid from the least to the largest number, with an omega and a delta that are attained.
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

static_assert(Compressor<damped_quantize> && Compressor<damped_quantize, float>);
static_assert(Contractive<damped_quantize> && !Unbiased<damped_quantize>);

using laws::mean_error;

// |(3, 4)| = 5: two levels, a step of 2.5. 3 is 1.2 steps and 4 is 1.6: variances of .16 and .24 steps^2, 2.5 in all,
// so that a factor of 25 / 27.5 is best, and 1/11 of |x|^2 is lost.
TEST_CASE_TEMPLATE("by hand: 3 and 4 at two levels", T, float, double) {
    std::vector<T> const x{3, 4};
    auto const m = compress(damped_quantize{2}, x, key{1});
    CHECK(double(m.steps[0]) == doctest::Approx(2.5 * 10 / 11));
    CHECK(m.codes == compress(quantize{2}, x, key{1}).codes);
    CHECK(mean_error(damped_quantize{2}, x, 4000) == doctest::Approx(1. / 11).epsilon(.05).scale(0));
    std::vector<T> const on_grid{3, -3, 0};
    CHECK(laws::received(damped_quantize{1, 0, p_norm::largest}, on_grid, key{1}) == on_grid);
}

TEST_CASE_TEMPLATE("its delta holds, is reached where all are equal, and scaled_down keeps no more", T, float, double) {
    double gained = 0;
    for (auto const& x : laws::theory_vectors<T>())
        for (auto const& q :
             {quantize{1}, quantize{3, 4}, quantize{1, 0, p_norm::largest}, quantize{7, 5, p_norm::one}}) {
            damped_quantize const c{q.levels, q.bucket, q.p};
            CHECK(c.delta(x.size()) == 1 / (1 + q.omega(x.size())));
            double const error = mean_error(c, x, 400), scaled = mean_error(scaled_down{q}, x, 400);
            CHECK(error <= (1 - c.delta(x.size())) * 1.2 + 1e-6);
            CHECK(error <= scaled * 1.2 + 1e-6);
            gained = std::max(gained, scaled - error);
        }
    CHECK(gained > .2);
    std::vector<T> const equal(16, T(-1.5));
    damped_quantize const c{};
    CHECK(c.delta(16) == 1. / 4);
    CHECK(mean_error(c, equal, 2000) == doctest::Approx(1 - 1. / 4).epsilon(.02));
}

TEST_CASE_TEMPLATE("numbers out of range, and what is refused", T, float, double) {
    T const tiny = std::numeric_limits<T>::min(), huge = std::numeric_limits<T>::max() / 4;
    for (T const unit : {tiny, huge}) {
        std::vector<T> const x{unit, unit / 2, -unit};
        auto const m = compress(damped_quantize{3}, x, key{1});
        CHECK(double(m.steps[0] / unit) ==
              doctest::Approx(double(compress(damped_quantize{3}, std::vector<T>{1, .5, -1}, key{1}).steps[0])));
    }
    CHECK(laws::received(damped_quantize{}, std::vector<T>(5), key{1}) == std::vector<T>(5));
    for (int const levels : {0, -1, 32768})
        CHECK_THROWS_AS(compress(damped_quantize{levels}, std::vector<T>{1}, key{1}), argument_error);
    for (T const bad : {T(NAN), T(HUGE_VAL), T(-HUGE_VAL)})
        CHECK_THROWS_AS(laws::unchecked(damped_quantize{}, std::vector<T>{1, bad, 2}), argument_error);
    CHECK_THROWS_AS(laws::unchecked(damped_quantize{}, std::vector<T>(3, std::numeric_limits<T>::max())),
                    argument_error);
}

TEST_CASE("as it is written") {
    CHECK(to_string(damped_quantize{7}) == "quantize(7, damped=yes)");
    CHECK(to_string(damped_quantize{7, 5, p_norm::largest}) == "quantize(7, bucket=5, p=inf, damped=yes)");
}

TEST_CASE("from the first message on there is room for codes of either width") {
    host on;
    auto const x = laws::noise<float>(100, 3);
    messages::quantized<float, host> m;
    damped_quantize{7}(on, std::span<float const>(x), key{1}, m);
    CHECK((m.codes.size() == 100 && m.wide_codes.empty()));
    auto const* const narrow = m.codes.data();
    CHECK(m.wide_codes.capacity() >= 100);
    damped_quantize{1000}(on, std::span<float const>(x), key{2}, m);
    CHECK((m.codes.empty() && m.wide_codes.size() == 100));
    auto const* const wide = m.wide_codes.data();
    damped_quantize{7}(on, std::span<float const>(x), key{3}, m);
    CHECK(m.codes.data() == narrow);
    damped_quantize{128}(on, std::span<float const>(x), key{4}, m);
    CHECK(m.wide_codes.data() == wide);
}

using nearest = uniform<rounding::nearest>;

static_assert(Compressor<uniform<>> && Compressor<uniform<>, float> && Unbiased<uniform<>> && !Contractive<uniform<>>);
static_assert(Compressor<uniform<rounding::nearest>> && Contractive<uniform<rounding::nearest>> &&
              !Unbiased<uniform<rounding::nearest>>);

static_assert(std::same_as<decltype(uniform{}), uniform<>> && std::same_as<decltype(uniform{8, 512}), uniform<>>);

// From -1 to 2 in three steps of 1; then from 5 to 6.5 in steps of a half.
TEST_CASE("by hand") {
    vec const x{2, -1, 0.75, 1, 6.5, 5, 5.25, 6};
    auto const m = laws::compress(nearest{2, 4}, x, key{});
    CHECK(m.least == vec{-1, 5});
    CHECK(m.steps == vec{1, 0.5});
    CHECK(m.codes == std::vector<std::uint8_t>{3, 0, 2, 2, 3, 0, 1, 2});
    CHECK(sent_by(nearest{2, 4}, x) == vec{2, -1, 1, 1, 6.5, 5, 5.5, 6});
    for (std::uint64_t k = 0; k < 20; ++k) {
        auto const v = sent_by(uniform{2, 4}, x, k);
        CHECK((v[2] == 0 || v[2] == 1));
        CHECK((v[6] == 5 || v[6] == 5.5));
        CHECK(vec{v[0], v[1], v[3], v[4], v[5], v[7]} == vec{2, -1, 1, 6.5, 5, 6});
    }
    CHECK(laws::moments_by_values(uniform{2, 4}, x).variance == doctest::Approx(0.75 * 0.25 + 0.25 * 0.25));
}

TEST_CASE_TEMPLATE("the least is exact, the largest up to rounding, and all where all are equal", T, float, double) {
    for (std::uint64_t k = 0; k < 300; ++k) {
        auto x = laws::noise<T>(9, k, 6);
        for (T& v : x) v /= 3;
        auto const [least, largest] = std::minmax_element(x.begin(), x.end());
        for (int const bits : {1, 3, 8}) {
            auto const v = sent_by(uniform{bits}, x, k);
            auto const at = [&](auto i) { return v[static_cast<std::size_t>(i - x.begin())]; };
            CHECK(at(least) == *least);
            CHECK(std::abs(at(largest) - *largest) <= 3 * std::numeric_limits<T>::epsilon() * (*largest - *least));
        }
    }
    for (T const v : {T(0.1), T(-7), T(0), std::numeric_limits<T>::max(), std::numeric_limits<T>::denorm_min()})
        for (std::size_t d : {1u, 2u, 70u}) {
            auto const m = laws::compress(uniform{3}, std::vector<T>(d, v), key{1});
            CHECK(m.steps == std::vector<T>{0});
            CHECK(m.codes == std::vector<std::uint8_t>(d, 0));
            CHECK(sent_by(uniform{3}, std::vector<T>(d, v)) == std::vector<T>(d, v));
        }
}

TEST_CASE("omega is attained by one number, its negative and zeros; one or two numbers are exact") {
    for (int const bits : {1, 2, 5, 8})
        for (std::size_t const d : {3u, 4u, 17u}) {
            vec x(d, 0.0);
            x[1] = 6;
            x[2] = -6;
            double const n = (1 << bits) - 1, omega = (static_cast<double>(d) - 2) / (2 * n * n);
            CHECK(uniform{bits}.omega(d) == doctest::Approx(omega).epsilon(1e-15));
            CHECK(laws::moments_by_values(uniform{bits}, x).variance == doctest::Approx(omega * 72).epsilon(1e-9));
            CHECK(laws::error_of(nearest{bits}, x) == doctest::Approx(omega * 72).epsilon(1e-9));
            if (omega < 1) CHECK(nearest{bits}.delta(d) == doctest::Approx(1 - omega).epsilon(1e-15));
        }
    for (std::size_t const d : {0u, 1u, 2u}) {
        CHECK(uniform{1}.omega(d) == 0);
        CHECK(nearest{1}.delta(d) == 1);
    }
    CHECK(uniform{3, 10}.omega(1000) == uniform{3}.omega(10));
    CHECK(uniform{3, 1000}.omega(10) == uniform{3}.omega(10));
    CHECK(sent_by(uniform{1}, vec{0.5, -0.75}) == vec{0.5, -0.75});
}

TEST_CASE("omega is nowhere passed") {
    double tightest = 0;
    for (std::uint64_t k = 0; k < 300; ++k) {
        auto const d = static_cast<std::size_t>(3 + key{k}.below(0, 12));
        auto const x = laws::noise<double>(d, k, static_cast<int>(k % 3));
        uniform const c{1 + static_cast<int>(k % 4)};
        auto const m = laws::compress(c, x, key{k});
        double variance = 0;
        for (std::size_t i = 0; i < d; ++i) {
            double const on_grid = (x[i] - m.least[0]) / m.steps[0], above = on_grid - std::floor(on_grid);
            CHECK((m.codes[i] == std::floor(on_grid) || m.codes[i] == std::ceil(on_grid)));
            variance += above * (1 - above) * m.steps[0] * m.steps[0];
        }
        CHECK(variance <= c.omega(d) * laws::energy(x) * (1 + 1e-9));
        tightest = std::max(tightest, variance / laws::energy(x) / c.omega(d));
    }
    CHECK(tightest > 0.5);
}

TEST_CASE("no delta where the bound reaches 1") {
    CHECK_THROWS_WITH_AS(
        nearest{1}.delta(4),
        "uniform(1, rounding=nearest) may lose 1 >= 1 of the energy of 4 values, so it is not contractive: "
        "take more bits or smaller buckets",
        theory_error);
    CHECK_THROWS_AS((top_k{0.5} | nearest{2}).delta(100), theory_error);
    CHECK(nearest{1, 3}.delta(1000) == 0.5);
}

TEST_CASE("what is not finite or too far apart is refused") {
    double const max = std::numeric_limits<double>::max();
    float const top = std::numeric_limits<float>::max();
    CHECK_THROWS_AS(sent_by(uniform{}, vec{max, -max}), argument_error);
    CHECK_THROWS_AS(sent_by(nearest{}, std::vector<float>{top, -top}), argument_error);
    CHECK(sent_by(uniform{1, 1}, vec{max, -max}) == vec{max, -max});
    CHECK(sent_by(uniform{2}, vec{0, 0x1.8p1023})[1] == 0x1.8p1023);
    for (double const bad : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
        CHECK_THROWS_WITH_AS(laws::unchecked(uniform{}, vec{0, 1, bad}), "uniform: coordinate 2 is not finite",
                             argument_error);
    // A range as wide as T, in 1 .. 255 steps: refused where the last is beyond it, else finite.
    for (int bits = 1; bits <= 8; ++bits) try {
            for (float const v : sent_by(uniform{bits}, std::vector<float>{top, 0, -1})) REQUIRE(std::isfinite(v));
        } catch (argument_error const&) {
        }
}

TEST_CASE_TEMPLATE("unbiased on a grid of subnormal numbers, and far from 0", T, float, double) {
    T const tiny = std::numeric_limits<T>::denorm_min();
    for (int const bits : {1, 2, 8})
        laws::has_mean_in_units(uniform{bits}, std::vector<T>{5 * tiny, -3 * tiny, tiny, 0}, tiny, 10000);
    laws::has_mean(uniform{2}, std::vector<T>{1000, 1001, T(1000.25), T(1000.5)}, key{5}, 10000);
}

TEST_CASE("parameters are checked, and written where they differ from the default") {
    for (int const bad : {0, -1, 9, std::numeric_limits<int>::min()}) {
        CHECK_THROWS_AS(uniform{bad}.check(5), argument_error);
        CHECK_THROWS_AS(nearest{bad}.check(5), argument_error);
    }
    CHECK_NOTHROW(uniform{1}.check(5));
    CHECK(to_string(uniform{}) == "uniform(8)");
    CHECK(to_string(uniform{8, 512}) == "uniform(8, bucket=512)");
    CHECK(to_string(nearest{8, 512}) == "uniform(8, bucket=512, rounding=nearest)");
    CHECK(to_string(nearest{4}) == "uniform(4, rounding=nearest)");
    CHECK(compress(uniform{4, std::numeric_limits<std::size_t>::max()}, vec{1, 2, 3}, key{}).codes ==
          laws::compress(uniform{4}, vec{1, 2, 3}, key{}).codes);
}
