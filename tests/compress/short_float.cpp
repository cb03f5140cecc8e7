// SPDX-License-Identifier: Apache-2.0
// Short floats round to the nearest, saturate, err by half a unit at most, and refuse what is not finite.
#include "laconic/compress/short_float.hpp"

#include "support/bits.hpp"
#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

using vec = std::vector<double>;

static_assert(Compressor<fp16> && Compressor<bf16, float> && Compressor<float8_e4m3> && Compressor<float8_e5m2, float>);
static_assert(!Unbiased<fp16> && !Contractive<fp16> && !Unbiased<bf16> && !Contractive<bf16>);
static_assert(!Unbiased<float8_e4m3> && !Contractive<float8_e4m3> && !Unbiased<float8_e5m2> &&
              !Contractive<float8_e5m2>);

using laws::sent_by;

// Between 2 and 4 the formats have 1024, 128, 8 and 4 numbers.
TEST_CASE("pi and others, by hand") {
    vec const x{3.14159265, -2.125, 1000, -1e-4, 0};
    CHECK(sent_by(fp16{}, x) == vec{3.140625, -2.125, 1000, -0x1.a38p-14, 0});
    CHECK(sent_by(bf16{}, x) == vec{3.140625, -2.125, 1000, -0x1.a4p-14, 0});
    CHECK(sent_by(float8_e4m3{}, x) == vec{3.25, -2, 448, 0, 0});
    CHECK(sent_by(float8_e5m2{}, x) == vec{3, -2, 1024, -0x1.cp-14, 0});
    CHECK(sent_by(fp16{}, vec{65504, 65519, 65520, 1e300, -1e300}) == vec{65504, 65504, 65504, 65504, -65504});
    CHECK(laws::compress(fp16{}, vec{1, -2, 0, -0.0}, key{}).codes ==
          std::vector<std::uint16_t>{0x3c00, 0xc000, 0, 0x8000});
    CHECK(to_string(fp16{}) == "fp16");
    CHECK(to_string(top_k{2} | float8_e4m3{}) == "top_k(2) | float8_e4m3");
}

TEST_CASE_TEMPLATE("normal numbers are off by at most half a unit of the last digit", C, fp16, bf16, float8_e4m3,
                   float8_e5m2) {
    auto const layout = C::template message<double, host>::format::layout;
    double const unit = std::ldexp(1.0, -layout.mantissa - 1);
    vec x;
    for (std::uint64_t i = 0; i < 5000; ++i)
        x.push_back(std::ldexp(1 + key{1}.uniform(i), static_cast<int>(i % 13) - 6));
    double worst = 0;
    auto const y = sent_by(C{}, x);
    for (std::size_t i = 0; i < x.size(); ++i) worst = std::max(worst, std::abs(y[i] / x[i] - 1));
    double const most = unit / (1 + unit);  // half way between 1 and the next number
    CHECK(worst <= most * (1 + 1e-12));
    CHECK(worst > 0.9 * most);
    std::map<std::string, double> const known{
        {"fp16", 2.38186e-7}, {"bf16", 1.51403e-5}, {"float8_e4m3", .00346021}, {"float8_e5m2", .0123457}};
    CHECK(most * most / known.at(to_string(C{})) == doctest::Approx(1).epsilon(1e-5));
}

TEST_CASE("what is not finite is written so that no reader accepts it") {
    for (double const bad : {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()}) {
        auto const refused = [&](auto const& c) {
            auto const m = laws::unchecked(c, vec{1, bad});
            CHECK_THROWS_AS(by_hand::read_into(m, by_hand::written(m)), wire_error);
        };
        refused(fp16{});
        refused(bf16{});
        refused(float8_e4m3{});
        refused(float8_e5m2{});
    }
}

// Random rounding.

static_assert(Unbiased<bf16::random> && Unbiased<fp16::random> && Compressor<float8_e4m3::random, float>);
static_assert(std::same_as<bf16::random::random, bf16::random> && !Contractive<bf16::random>);

TEST_CASE(
    "at random: the upper neighbour with the probability of the fraction of the way, in the normal range and below") {
    // 1.0029296875 is 3/8 of the way from 3f80 to 3f81. With 20000 draws, within four standard deviations.
    std::size_t const n = 20000;
    auto const share = [&](auto const& c, double x, double low, double high) {
        double up = 0;
        for (auto const y : sent_by(c, vec(n, x))) {
            CHECK((y == low || y == high));
            up += y == high;
        }
        return up / double(n);
    };
    double const within = 4 * std::sqrt(.25 / double(n));
    CHECK(std::abs(share(bf16::random{}, 1.0029296875, 1, 1.0078125) - .375) < within);
    CHECK(std::abs(share(bf16::random{}, -1.0029296875, -1, -1.0078125) - .375) < within);
    CHECK(std::abs(share(fp16::random{}, 0x1.4p-24, 0x1p-24, 0x1p-23) - .25) < within);
    CHECK(std::abs(share(fp16::random{}, 0x1p-26, 0, 0x1p-24) - .25) < within);
    CHECK(std::abs(share(float8_e4m3::random{}, 3.4375, 3.25, 3.5) - .75) < within);
    CHECK(std::abs(share(float8_e5m2::random{}, -0x1.2p-15, -0x1p-15, -0x1.8p-15) - .25) < within);
    CHECK(std::abs(share(bf16::random{}, 0x1p-135, 0, 0x1p-133) - .25) < within);
    CHECK(to_string(bf16::random{}) == "bf16(random=yes)");
    CHECK(to_string(float8_e5m2::random{}) == "float8_e5m2(random=yes)");
}

TEST_CASE_TEMPLATE("at random: numbers of the format stay, another key draws others", C, fp16, bf16, float8_e4m3,
                   float8_e5m2) {
    auto const layout = C::template message<double, host>::format::layout;
    vec all;
    for (std::uint16_t c = 0; c <= layout.largest(); ++c)
        for (int const sign : {1, -1}) all.push_back(sign * kernels::short_value<double>(layout, c));
    CHECK(sent_by(typename C::random{}, all) == all);
    CHECK(sent_by(typename C::random{}, vec{C::largest()}) == vec{C::largest()});
    vec const x(500, 1.1);
    CHECK(laws::compress(typename C::random{}, x, key{1}).codes !=
          laws::compress(typename C::random{}, x, key{2}).codes);
}

// The error is worst at 1 + h / (2 + h), of magnitude 1: omega is attained there, and nowhere exceeded.
TEST_CASE_TEMPLATE("at random: omega is h^2 / (4 (1 + h)), and some number attains it", C, fp16, bf16, float8_e4m3,
                   float8_e5m2) {
    auto const layout = C::template message<double, host>::format::layout;
    double const h = std::ldexp(1.0, -layout.mantissa), omega = typename C::random{}.omega(7);
    std::map<std::string, double> const known{
        {"fp16", 2.38186e-7}, {"bf16", 1.51405e-5}, {"float8_e4m3", .00347222}, {"float8_e5m2", .0125}};
    CHECK(omega / known.at(to_string(C{})) == doctest::Approx(1).epsilon(1e-5));
    double worst = 0;
    for (int i = 0; i <= 1000; ++i) {  // the variance of the two neighbours 1 and 1 + h, at each thousandth of the way
        double const f = i / 1000.0, x = 1 + f * h;
        worst = std::max(worst, f * (1 - f) * h * h / (x * x));
    }
    CHECK(worst <= omega * (1 + 1e-12));
    CHECK(worst > .999 * omega);
    double const x = 1 + h / (2 + h);  // of many draws the variance, within a tenth
    double sum = 0;
    auto const y = sent_by(typename C::random{}, vec(20000, x));
    for (auto const v : y) sum += (v - x) * (v - x) / (x * x);
    CHECK(sum / double(y.size()) / omega == doctest::Approx(1).epsilon(.1));
}

TEST_CASE_TEMPLATE("at random: what is beyond the largest number is refused, with its place", C, fp16, bf16,
                   float8_e4m3, float8_e5m2) {
    double const beyond = std::nextafter(C::largest(), 1e300);
    for (double const x : {beyond, -beyond, 1e300})
        CHECK_THROWS_WITH_AS(laws::unchecked(typename C::random{}, vec{1, 2, x}),
                             doctest::Contains("coordinate 2 is beyond"), argument_error);
    for (double const x : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
        auto const m = laws::unchecked(typename C::random{}, vec{1, x});
        CHECK_THROWS_AS(by_hand::read_into(m, by_hand::written(m)), wire_error);
    }
}
