// SPDX-License-Identifier: Apache-2.0
// natural rounds at random to powers of two, unbiased, with variances as published and the omega 1/8 reached.
// natural_dithering rounds to powers of two of the norm, unbiased, with an omega that is reached.
#include "laconic/compress/natural.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

static_assert(Compressor<natural> && Compressor<natural, float> && Unbiased<natural> && !Contractive<natural>);

// 3 is halfway between 2 and 4, and 5 a quarter of the way from 4 to 8.
TEST_CASE("by hand") {
    std::vector<double> const x{3, -5, 4, 0};
    auto const m = laws::moments_of(natural{}, x, 4000, key{1});
    CHECK(m.mean[2] == doctest::Approx(4).epsilon(1e-12));
    CHECK(m.mean[3] == 0);
    for (std::uint64_t k = 0; k < 20; ++k) {
        auto const v = laws::received(natural{}, x, key{k});
        CHECK((v[0] == 2 || v[0] == 4));
        CHECK((v[1] == -4 || v[1] == -8));
    }
}

TEST_CASE("the variances of section 9.3, exactly") {
    using v = std::vector<double>;
    CHECK(laws::moments_by_values(natural{}, v{3, 4}).variance == 1);
    CHECK(laws::moments_by_values(natural{}, v{1, 2, 2}).variance == 0);
    CHECK(laws::moments_by_values(natural{}, v{3, 1, 1, 1, 1}).variance == 1);
}

TEST_CASE("omega = 1/8 is reached at 4/3 of a power of two and nowhere passed") {
    for (double const scale : {1.0, 0x1p-500, 0x1p500, -1.0}) {
        std::vector<double> const x{scale * 4 / 3};
        CHECK(laws::moments_by_values(natural{}, x).variance / laws::energy(x) ==
              doctest::Approx(0.125).epsilon(1e-14));
    }
    for (int j = 1; j < 64; ++j) {
        std::vector<double> const x{1 + j / 64.0};
        CHECK(laws::moments_by_values(natural{}, x).variance <= 0.125 * laws::energy(x));
    }
    CHECK(natural{}.omega(1) == 0.125);
}

TEST_CASE("the ends of the range: unbiased among subnormal numbers, down from the top") {
    float const least = std::numeric_limits<float>::min(), max = std::numeric_limits<float>::max();
    std::vector<float> const low{least / 4, -least / 2, least * 0.75f};
    auto const m = laws::moments_of(natural{}, low, 10000, key{2});
    for (std::size_t i = 0; i < 3; ++i) {
        double const p = std::abs(static_cast<double>(low[i] / least));
        CHECK(std::abs(m.mean[i] / static_cast<double>(least)) ==
              doctest::Approx(p).epsilon(5 * std::sqrt((1 - p) / p / 10000)).scale(0));
    }
    CHECK(m.largest == static_cast<double>(least));
    for (std::uint64_t k = 0; k < 100; ++k)
        CHECK(laws::received(natural{}, std::vector<float>{max, -max}, key{k}) ==
              std::vector<float>{0x1p127f, -0x1p127f});
}

using vec = std::vector<double>;

static_assert(Compressor<natural_dithering> && Compressor<natural_dithering, float> && Unbiased<natural_dithering> &&
              !Contractive<natural_dithering>);

using laws::sent_by;

// By the definition, and that a message says one of the two neighbours.
double exact_variance(natural_dithering const& c, vec const& x) {
    host on;
    auto const sent = sent_by(c, x);
    double const top = norm_of(on, c.p, std::span<double const>(x));
    double variance = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        double const size = std::abs(x[i]);
        double low = 0, high = std::ldexp(top, 1 - c.levels);
        while (high < size) low = high, high *= 2;
        CHECK((std::abs(sent[i]) == low || std::abs(sent[i]) == high));
        variance += (high - size) * (size - low);
    }
    return variance;
}

double paper_omega(natural_dithering const& c, double b) {
    double const a = (c.p == p_norm::one ? b : std::sqrt(b)) * std::ldexp(1.0, 1 - c.levels);
    return 0.125 + a * std::min(1.0, a);
}

// |(3, 4)| = 5, so the levels are 0, 1.25, 2.5 and 5; 3 is a fifth, 4 three fifths of the way from 2.5 to 5.
TEST_CASE("by hand") {
    auto const m = laws::moments_of(natural_dithering{3}, vec{3, -4}, 4000, key{1});
    CHECK(std::abs(m.mean[0] - 3) < 5 * std::sqrt(2.0 * 0.5 / 4000));
    for (std::uint64_t k = 0; k < 20; ++k) {
        auto const v = sent_by(natural_dithering{3}, vec{3, -4}, k);
        CHECK((v[0] == 2.5 || v[0] == 5));
        CHECK((v[1] == -2.5 || v[1] == -5));
    }
    auto const sent = laws::compress(natural_dithering{2, 2, p_norm::largest}, vec{1, -2, 4, 2, 0, 0}, key{1});
    CHECK(sent.norms == vec{2, 4, 0});
    CHECK(sent.codes == std::vector<std::int16_t>{1, -2, 2, 1, 0, 0});
    CHECK(sent_by(natural_dithering{2, 2, p_norm::largest}, vec{1, -2, 4, 2, 0, 0}) == vec{1, -2, 4, 2, 0, 0});
    CHECK(laws::moments_by_values(natural_dithering{3}, vec{3, 4}).variance == doctest::Approx(2 * 0.5 + 1 * 1.5));
}

// A library of the survey sends its input unchanged under this name, another rounds with the number 0.75 for a random
// one: what is below three quarters of the way would always go down, what is above always up.
TEST_CASE("it is not the identity, and it rounds at random") {
    vec const x{1, 0.51, 0.6, 0.74, 0.76, 0.9, 0.99, 0.3, 0.26, 0.1};
    natural_dithering const c{4, 0, p_norm::largest};
    int const n = 4000;
    vec up(x.size(), 0.0);
    for (std::uint64_t k = 0; k < static_cast<std::uint64_t>(n); ++k) {
        auto const v = sent_by(c, x, k);
        for (std::size_t i = 0; i < x.size(); ++i) {
            REQUIRE((v[i] == 0 || v[i] == 0.125 || v[i] == 0.25 || v[i] == 0.5 || v[i] == 1));
            up[i] += v[i] > x[i];
        }
    }
    for (std::size_t i = 1; i < x.size(); ++i) {
        CAPTURE(x[i]);
        double const low = x[i] > 0.5 ? 0.5 : x[i] > 0.25 ? 0.25 : 0, high = x[i] > 0.5 ? 1 : x[i] > 0.25 ? 0.5 : 0.125;
        double const p = (x[i] - low) / (high - low);
        CHECK(std::abs(up[i] / n - p) < 5 * std::sqrt(p * (1 - p) / n));
    }
    CHECK(sent_by(c, x, 1) != sent_by(c, x, 2));
}

// Of magnitudes: where numbers are negative, one goes up where the other, which keeps signs by themselves, goes down.
TEST_CASE("one level is quantize with one level") {
    for (p_norm p : {p_norm::one, p_norm::two, p_norm::largest})
        for (std::uint64_t k = 0; k < 20; ++k) {
            auto x = laws::noise<double>(30, k, 4);
            for (double& v : x) v = std::abs(v);
            auto const ours = laws::compress(natural_dithering{1, 7, p}, x, key{k});
            auto const known = laws::compress(quantize{1, 7, p}, x, key{k});
            CHECK(ours.codes == std::vector<std::int16_t>(known.codes.begin(), known.codes.end()));
            CHECK(ours.norms == known.steps);
            CHECK(natural_dithering{1, 7, p}.omega(30) == quantize{1, 7, p}.omega(30));
        }
}

// Where all magnitudes are equal and a >= 9/4, every one is below the least level. At a = 9/4 both branches of omega
// coincide: 81 numbers, three levels. 25 equal numbers of |x| = 1 are 1/5 each, and 1/2 is the least of two levels: 25
// (1/5) (1/2 - 1/5) = 1.5.
TEST_CASE("omega is attained by equal magnitudes") {
    struct {
        natural_dithering c;
        std::size_t d;
        double omega;
    } const attained[] = {{{3}, 81, 1.25},
                          {{2}, 25, 1.5},
                          {{2}, 36, 2},
                          {{4}, 1024, 3},
                          {{1}, 9, 2},
                          {{1, 0, p_norm::one}, 5, 4},
                          {{2, 0, p_norm::one}, 6, 2}};
    for (auto const& a : attained) {
        CAPTURE(to_string(a.c));
        vec const equal(a.d, -2.0);
        CHECK(a.c.omega(a.d) == doctest::Approx(a.omega).epsilon(1e-14));
        CHECK(laws::moments_by_values(a.c, equal).variance / laws::energy(equal) ==
              doctest::Approx(a.omega).epsilon(1e-12));
        CHECK(exact_variance(a.c, equal) / laws::energy(equal) == doctest::Approx(a.omega).epsilon(1e-12));
    }
    // With many levels all that is left is rounding to powers of two: 1/8, at 4/3 of a level.
    natural_dithering const fine{40, 0, p_norm::largest};
    vec const x{1, 1.0 / 3, -2.0 / 3, 1.0 / 6};
    CHECK(laws::moments_by_values(fine, x).variance == doctest::Approx((laws::energy(x) - 1) / 8).epsilon(1e-12));
    CHECK(fine.omega(4) == doctest::Approx(0.125));
}

// Vectors with some numbers at the worst place below the least level and some at 4/3 above it, and random ones.
TEST_CASE("omega is nowhere passed, and is below the paper's") {
    double tightest = 0;
    for (p_norm const p : {p_norm::one, p_norm::two, p_norm::largest})
        for (int const s : {2, 3, 4, 6})
            for (std::uint64_t k = 0; k < 60; ++k) {
                auto const d = static_cast<std::size_t>(2 + key{k}.below(0, 40));
                vec x = laws::noise<double>(d, 10 * k, static_cast<int>(k % 4));
                if (k % 3 == 0)
                    for (std::size_t i = 0; i < d; ++i)
                        x[i] = key{k}.below(i + 1, 4) != 0 ? 0.25 : key{k}.uniform(i + 99);
                natural_dithering const c{s, 0, p};
                double const omega = c.omega(d);
                double const ratio = exact_variance(c, x) / laws::energy(x);
                CHECK(ratio <= omega * (1 + 1e-12));
                CHECK(omega < paper_omega(c, static_cast<double>(d)));
                tightest = std::max(tightest, ratio / omega);
            }
    CHECK(tightest > 0.7);
    CHECK(natural_dithering{4, 10}.omega(1000) == natural_dithering{4}.omega(10));
    CHECK(natural_dithering{4}.omega(0) == natural_dithering{4}.omega(1));
}

TEST_CASE("parameters are checked") {
    for (int const bad : {0, -1, 1001, std::numeric_limits<int>::max()})
        CHECK_THROWS_AS(natural_dithering{bad}.check(5), argument_error);
    CHECK_THROWS_AS((natural_dithering{1, 0, p_norm(3)}.check(5)), argument_error);
    CHECK_NOTHROW(natural_dithering{1000}.check(5));
    std::size_t const most = std::numeric_limits<std::size_t>::max();
    CHECK(compress(natural_dithering{4, most}, vec{3, -4}, key{2}).codes ==
          compress(natural_dithering{4}, vec{3, -4}, key{2}).codes);
    CHECK(compress(natural_dithering{4, most}, vec{}, key{2}).norms.empty());
}

TEST_CASE("a norm that is not finite is refused, one just below is not") {
    double const max = std::numeric_limits<double>::max();
    float const top = std::numeric_limits<float>::max();
    CHECK_THROWS_AS(sent_by(natural_dithering{1}, vec{max, max}), argument_error);
    CHECK_THROWS_AS(sent_by(natural_dithering{5}, std::vector<float>{top, top}), argument_error);
    CHECK(sent_by(natural_dithering{5, 0, p_norm::largest}, vec{max, -max, max / 2}) == vec{max, -max, max / 2});
    for (p_norm const p : {p_norm::one, p_norm::two, p_norm::largest})
        for (double const bad : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
            host on;
            messages::dithered<double, host> m;
            vec const x{1, bad};
            CHECK_THROWS_AS((natural_dithering{5, 0, p}(on, std::span<double const>(x), key{}, m)), argument_error);
        }
}

// Levels that T could not hold are left out; what is below the lowest that is left still has its mean.
TEST_CASE_TEMPLATE("unbiased where levels underflow", T, float, double) {
    T const tiny = std::numeric_limits<T>::denorm_min(), least = std::numeric_limits<T>::min();
    for (int const levels : {1, 4, 200, 1000})
        for (p_norm const p : {p_norm::one, p_norm::largest}) {
            laws::has_mean_in_units(natural_dithering{levels, 0, p}, std::vector<T>{5 * tiny, -3 * tiny, tiny, 0}, tiny,
                                    4000);
            laws::has_mean_in_units(natural_dithering{levels, 0, p},
                                    std::vector<T>{5 * least, -least / 2, least, least / 8, least * T(1.5), 0}, least,
                                    4000);
        }
    // Among normal levels omega holds though the numbers below the lowest are subnormal.
    std::vector<T> const x{16 * least, least / 3, -least / 2, least * T(1.9)};
    natural_dithering const c{5, 0, p_norm::largest};
    vec scaled;
    for (T const v : x) scaled.push_back(static_cast<double>(v / least));
    double variance = 0;
    for (double const v : {scaled[1], -scaled[2]}) variance += v * (1 - v);
    variance += (2 - scaled[3]) * (scaled[3] - 1);
    CHECK(variance <= c.omega(4) * laws::energy(scaled));
    for (std::uint64_t k = 0; k < 100; ++k)
        for (T const v : sent_by(c, x, k)) CHECK((v == 0 || std::abs(v) >= least));
}

TEST_CASE("its text names what differs from the default") {
    CHECK(to_string(natural_dithering{}) == "natural_dithering(8)");
    CHECK(to_string(natural_dithering{4, 64}) == "natural_dithering(4, bucket=64)");
    CHECK(to_string(natural_dithering{4, 64, p_norm::largest}) == "natural_dithering(4, bucket=64, p=inf)");
    CHECK(to_string(natural_dithering{4, 0, p_norm::one}) == "natural_dithering(4, p=1)");
}
