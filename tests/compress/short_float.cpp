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
    CHECK(worst <= unit);
    CHECK(worst > 0.9 * unit / (1 + unit));
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
