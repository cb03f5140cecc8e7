// SPDX-License-Identifier: Apache-2.0
// Scales of blocks: which there are, what they cut off, and their eight bits.
#include "laconic/backend/block_format.hpp"

#include "support/everything.hpp"

using namespace laconic::kernels;
using format = block_format;

TEST_CASE("the formats, as their standards have them") {
    struct {
        format f;
        int width;
        double largest, least;
        std::size_t block;
    } const known[] = {
        {format::mxfp8_e4m3, 8, 448, 0x1p-9, 32}, {format::mxfp8_e5m2, 8, 57344, 0x1p-16, 32},
        {format::mxfp6_e3m2, 6, 28, 0x1p-4, 32},  {format::mxfp6_e2m3, 6, 7.5, 0x1p-3, 32},
        {format::mxfp4, 4, 6, 0.5, 32},           {format::nvfp4, 4, 6, 0.5, 16},
        {format::float8_e4m3, 8, 448, 0x1p-9, 0}, {format::float8_e5m2, 8, 57344, 0x1p-16, 0},
        {format::int8, 8, 127. / 32, 1. / 32, 0}, {format::int4, 4, 7. / 2, 1. / 2, 0},
    };
    CHECK(std::size(known) == block_names.size());
    for (auto const& k : known) {
        auto const f = layout_of(k.f);
        CAPTURE(block_names[static_cast<std::size_t>(k.f)]);
        CHECK(f.element.width() == k.width);
        CHECK(largest_value<double>(f.element) == k.largest);
        CHECK(short_value<double>(f.element, 1) == k.least);
        CHECK(f.block == k.block);
    }
    std::vector<double> values;
    for (std::uint16_t c = 0; c < 8; ++c) values.push_back(short_value<double>(layout_of(format::mxfp4).element, c));
    CHECK(values == std::vector<double>{0, .5, 1, 1.5, 2, 3, 4, 6});
    for (std::uint16_t c = 0; c < 128; ++c)
        CHECK(short_value<float>(layout_of(format::int8).element, c) == static_cast<float>(c) / 32);
}

TEST_CASE_TEMPLATE("a power of two is that of the magnitude, or covers it, and stays in eight bits", T, float, double) {
    for (auto const name :
         {format::mxfp8_e4m3, format::mxfp8_e5m2, format::mxfp6_e3m2, format::mxfp6_e2m3, format::mxfp4}) {
        auto const f = layout_of(name);
        T const top = largest_value<T>(f.element);
        int const emax = static_cast<int>(std::floor(std::log2(top)));
        for (int e = -100; e < 100; ++e)
            for (T const m : {T(1), T(1.25), T(1.5), T(1.75), T(1.875), std::nextafter(T(2), T(0))}) {
                T const x = std::ldexp(m, e);
                CHECK(block_scale(x, f, false, T(1)) == std::ldexp(T(1), e - emax));
                T const up = block_scale(x, f, true, T(1));
                CHECK(up * top >= x);
                CHECK(up / 2 * top < x);
            }
        for (bool const up : {false, true}) {
            CHECK(block_scale(T(0), f, up, T(1)) == std::ldexp(T(1), -127));
            CHECK(block_scale(std::numeric_limits<T>::denorm_min(), f, up, T(1)) == std::ldexp(T(1), -127));
            CHECK(block_scale(std::ldexp(T(1), -126 + emax), f, up, T(1)) == std::ldexp(T(1), -126));
            CHECK(std::isinf(block_scale(std::numeric_limits<T>::infinity(), f, up, T(1))));
            CHECK(std::isinf(block_scale(std::numeric_limits<T>::quiet_NaN(), f, up, T(1))));
            if (sizeof(T) == 8) CHECK(std::isinf(block_scale(std::ldexp(T(1), 128 + emax), f, up, T(1))));
        }
    }
}

TEST_CASE_TEMPLATE("a scale of e4m3 is the nearest, or the next above, and from 2^-6 to 448", T, float, double) {
    auto const f = layout_of(format::nvfp4);
    T const shared = T(0.0078125);
    auto const of = [&](double wanted, bool up) { return block_scale(T(wanted * 6 * shared), f, up, shared); };
    CHECK(of(1, false) == 1);
    CHECK(of(1, true) == 1);
    CHECK(of(1.0625, false) == 1);     // halfway, to the even code
    CHECK(of(1.1875, false) == 1.25);  // the same
    CHECK(of(1.0625, true) == 1.125);
    CHECK(of(1.001, true) == 1.125);
    CHECK(of(1.95, false) == 2);
    CHECK(of(447, true) == 448);
    CHECK(of(460, true) == 448);
    CHECK(of(0, true) == 0x1p-6);
    CHECK(of(0x1p-7, false) == 0x1p-6);
    CHECK(std::isinf(block_scale(std::numeric_limits<T>::infinity(), f, false, shared)));
    CHECK(tensor_scale(T(2688), f.element) == 1);
    CHECK(tensor_scale(T(0), f.element) == std::numeric_limits<T>::min());
    CHECK(std::isnan(tensor_scale(std::numeric_limits<T>::quiet_NaN(), f.element)));
}

TEST_CASE_TEMPLATE("a number covers the magnitude", T, float, double) {
    for (auto const name : {format::float8_e4m3, format::float8_e5m2, format::int8, format::int4}) {
        auto const f = layout_of(name);
        T const top = largest_value<T>(f.element);
        CHECK(block_scale(T(0), f, true, T(1)) == 0);
        for (std::uint64_t i = 0; i < 1000; ++i) {
            T const x = static_cast<T>(std::ldexp(1 + key{3}.uniform(i), static_cast<int>(i % 240) - 120));
            T const s = block_scale(x, f, i % 2 == 0, T(1));
            CHECK(s * top >= x);
            CHECK(std::nextafter(s, T(0)) * top < x * (1 + std::numeric_limits<T>::epsilon()));
        }
    }
}

TEST_CASE_TEMPLATE("eight bits of a scale mean that scale, and others none", T, float, double) {
    for (auto const f : {scale_format::power_of_two, scale_format::e4m3})
        for (unsigned code = 0; code < 256; ++code) {
            T const s = scale_of_code<T>(f, code);
            bool const is = f == scale_format::power_of_two ? code != 255 : code >= 8 && code < 127;
            CHECK(std::isnan(s) != is);
            if (is) CHECK(code_of_scale(f, s) == code);
        }
    CHECK(scale_of_code<T>(scale_format::power_of_two, 0) == std::ldexp(T(1), -127));
    CHECK(scale_of_code<T>(scale_format::power_of_two, 127) == 1);
    CHECK(scale_of_code<T>(scale_format::e4m3, 0x38) == 1);
    CHECK(scale_of_code<T>(scale_format::e4m3, 126) == 448);
}
