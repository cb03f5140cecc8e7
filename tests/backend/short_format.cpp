// SPDX-License-Identifier: Apache-2.0
// The codes of fp16, bf16, e4m3 and e5m2 have the values that their standards define.
#include "laconic/backend/short_format.hpp"

#include "support/everything.hpp"

using namespace laconic::kernels;

constexpr short_format all_formats[] = {short_format::binary16, short_format::bfloat, short_format::e4m3,
                                        short_format::e5m2};

// From the fields, as the standards write it.
double by_the_standard(short_layout f, int code) {
    int const mantissa = code & ((1 << f.mantissa) - 1), exponent = code >> f.mantissa & ((1 << f.exponent) - 1);
    double const size = exponent == 0 ? std::ldexp(mantissa, 1 - f.bias() - f.mantissa)
                                      : std::ldexp(1 + std::ldexp(mantissa, -f.mantissa), exponent - f.bias());
    return code >> (f.exponent + f.mantissa) == 0 ? size : -size;
}

// The numbers of the formats' tables: the largest, the least normal and the least.
TEST_CASE("the formats by their landmarks") {
    struct {
        short_format f;
        int width, bias, largest, nan;
        double largest_value, least_normal, least;
    } const known[] = {
        {short_format::binary16, 16, 15, 0x7bff, 0x7e00, 65504, 0x1p-14, 0x1p-24},
        {short_format::bfloat, 16, 127, 0x7f7f, 0x7fc0, 0x1.fep127, 0x1p-126, 0x1p-133},
        {short_format::e4m3, 8, 7, 0x7e, 0x7f, 448, 0x1p-6, 0x1p-9},
        {short_format::e5m2, 8, 15, 0x7b, 0x7e, 57344, 0x1p-14, 0x1p-16},
    };
    for (auto const& k : known) {
        CAPTURE(std::string(name_of(k.f)));
        short_layout const f = layout_of(k.f);
        CHECK(f.width() == k.width);
        CHECK(f.bias() == k.bias);
        CHECK(f.largest() == k.largest);
        CHECK(f.nan() == k.nan);
        CHECK(short_value<double>(f, f.largest()) == k.largest_value);
        CHECK(short_value<float>(f, static_cast<std::uint16_t>(f.largest() | f.sign())) == -k.largest_value);
        CHECK(short_value<double>(f, static_cast<std::uint16_t>(1 << f.mantissa)) == k.least_normal);
        CHECK(short_value<float>(f, 1) == k.least);
        CHECK(std::signbit(short_value<float>(f, f.sign())));
        CHECK(short_value<float>(f, f.sign()) == 0);
    }
    CHECK(short_value<double>(layout_of(short_format::binary16), 0x3555) == 0x1.554p-2);
    static_assert(short_value<float>(layout_of(short_format::bfloat), 0x4049) == 3.140625f);
}

TEST_CASE("every code of every format, as a float and as a double") {
    for (auto const format : all_formats) {
        short_layout const f = layout_of(format);
        CAPTURE(std::string(name_of(format)));
        int finite = 0, wrong = 0;
        for (int c = 0; c < 1 << f.width(); ++c) {
            auto const code = static_cast<std::uint16_t>(c);
            if (!f.is_finite(code)) {
                wrong += !std::isnan(short_value<float>(f, code)) || !std::isnan(short_value<double>(f, code));
                continue;
            }
            ++finite;
            double const v = by_the_standard(f, c);
            wrong += short_value<double>(f, code) != v || short_value<float>(f, code) != v ||
                     std::signbit(short_value<float>(f, code)) != std::signbit(v);
        }
        CHECK(wrong == 0);
        // Infinities and NaN take the last exponent, or one code of each sign.
        CHECK(finite == (1 << f.width()) - (f.infinities ? 2 << f.mantissa : 2));
    }
}
