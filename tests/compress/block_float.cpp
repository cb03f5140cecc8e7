// SPDX-License-Identifier: Apache-2.0
// Block floats have the codes and scales of the standards, and lose no more than they say, which some block attains.
#include "laconic/compress/block_float.hpp"

#include "support/bits.hpp"
#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

using laws::sent_by;
using format = block_format;

static_assert(Compressor<block_float> && Compressor<block_float, float>);

template <class T>
double share_lost(std::vector<T> const& x, std::vector<T> const& y) {
    double lost = 0, all = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        double const error = static_cast<double>(y[i]) - static_cast<double>(x[i]);
        lost += error * error;
        all += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    }
    return lost / all;
}

TEST_CASE_TEMPLATE("one block, to the bit", T, float, double) {
    struct {
        format f;
        std::vector<int> scales;
        char const* codes;
        double lost;
    } const known[] = {
        {format::mxfp8_e4m3, {0x7a}, "dcd564f2dc58df5673f250e4da6ef90061e6627cd05aebde77d8446aec6d5cd6", 3.587946e-4},
        {format::mxfp8_e5m2, {0x73}, "eae66ef5ea68ec6776f564eee973f9006def6d7ae469f2eb78e85e71f2726ae7", 3.064268e-3},
        {format::mxfp6_e3m2, {0x7e}, "2e2a12392e0c300b1a3908322d173d001133111e280d362f1c2c031536160e2b", 3.064268e-3},
        {format::mxfp6_e2m3, {0x80}, "232206322302240213320126220e39000527051c21022b241722000a2c0d0322", 5.585120e-4},
        {format::mxfp4, {0x80}, "982c91905c0993e01a1781b96902b318", 1.638728e-2},
        {format::nvfp4, {0x7b, 0x7e}, "992d91916d0a94f01a1781b96903b318", 5.949276e-3},
    };
    std::vector<T> x;
    for (int t = 0; t < 32; ++t) x.push_back(static_cast<T>(std::ldexp((37 * t % 101) - 50, t % 5 - 6)));
    for (auto const& k : known) {
        block_float const c{k.f};
        CAPTURE(to_string(c));
        auto const m = laws::compress(c, x, key{1});
        std::string codes;
        for (auto const code : m.codes) {
            if (m.words().width > 4) codes += "0123456789abcdef"[code >> 4];
            codes += "0123456789abcdef"[code & 15];
        }
        CHECK(codes == k.codes);
        std::vector<int> scales;
        for (T const s : m.scales) scales.push_back(kernels::code_of_scale(m.layout().scale, s));
        CHECK(scales == k.scales);
        CHECK(share_lost(x, sent_by(c, x)) == doctest::Approx(k.lost).epsilon(1e-6));
        if (k.f == format::nvfp4) CHECK(std::bit_cast<std::uint32_t>(static_cast<float>(m.shared)) == 0x3b8f3cf4);
    }
}

TEST_CASE("rows of integers, and of float8, by hand") {
    std::vector<float> const x{127, -3.5f, 2.5f, 0.4f, 254, -127, 2, 0};
    CHECK(sent_by(block_float{format::int8, 4}, x) == std::vector<float>{127, -4, 2, 0, 254, -128, 2, 0});
    CHECK(sent_by(block_float{format::int4, 4}, std::vector<float>{7, -2.5f, 3.5f, 0.4f, 14, 1}) ==
          std::vector<float>{7, -2, 4, 0, 14, 0});
    CHECK(sent_by(block_float{format::float8_e4m3, 2}, std::vector<float>{896, 35, 0, 0}) ==
          std::vector<float>{896, 36, 0, 0});
}

TEST_CASE("bits: the elements and one scale a block; nvfp4 has 32 more, rows 32 for each") {
    std::vector<float> const x(64, 1);
    auto const bits = [&](block_float c) { return account(compress(c, x, key{1})).unpadded(); };
    CHECK(bits({format::mxfp8_e4m3}) == 64 * 8 + 2 * 8);
    CHECK(bits({format::mxfp6_e3m2}) == 64 * 6 + 2 * 8);
    CHECK(bits({format::mxfp4}) == 64 * 4 + 2 * 8);
    CHECK(bits({format::nvfp4}) == 64 * 4 + 4 * 8 + 32);
    CHECK(bits({format::int8}) == 64 * 8 + 32);
    CHECK(bits({format::int4, 16}) == 64 * 4 + 4 * 32);
}

// What blocks of one number M and others o lose, those being halfway between two codes or about where random rounding
// costs most: of rounding at random the mean, from the scale of a message and the table of values.
double worst_loss(block_float c, std::size_t b) {
    auto const f = kernels::layout_of(c.format);
    std::vector<double> values;
    for (std::uint16_t code = 0; code <= f.element.largest(); ++code)
        values.push_back(kernels::short_value<double>(f.element, code));
    std::vector<double> large{values.back() * (1 - 1e-9), values.back() / 2 * (1 + 1e-9),
                              std::exp2(std::ceil(std::log2(values.back()))) * (1 - 1e-9)},
        small;
    for (std::size_t i = 0; i + 1 < values.size(); ++i)
        for (double const part : {.5, .4999, .47, .45, .42, .4}) {
            double const v = values[i] + part * (values[i + 1] - values[i]);
            if (v >= values.back() / 2) large.push_back(v);
            if (i < 8 || i % 8 == 0) small.push_back(v);
        }
    if (f.scale == kernels::scale_format::number) large = {values.back()};
    double worst = 0;
    for (double const m : large)
        for (double const o : small) {
            if (o > m) continue;
            std::vector<double> x(b, o);
            x[0] = m;
            auto const sent = compress(c, x, key{1});
            if (!c.unbiased()) {
                std::vector<double> y(b, 0);
                host on;
                add_message(on, std::span(y), 1.0, sent);
                worst = std::max(worst, share_lost(x, y));
                continue;
            }
            double lost = 0, all = 0;
            for (std::size_t i = 0; i < b; ++i) {
                double const scale = sent.shared * sent.scales[0], v = std::min(x[i] / scale, values.back());
                auto const above = std::upper_bound(values.begin(), values.end() - 1, v);
                lost += (v - *(above - 1)) * (*above - v) * scale * scale;
                all += x[i] * x[i];
            }
            worst = std::max(worst, lost / all);
        }
    return worst;
}

TEST_CASE("the constants of the formats are suprema: blocks come within a hundredth, and none exceeds them") {
    struct {
        format f;
        double nearest, random;
    } const known[] = {
        {format::mxfp8_e4m3, .015625, .003472}, {format::mxfp8_e5m2, .015625, .0125},
        {format::mxfp6_e3m2, .015654, .012595}, {format::mxfp6_e2m3, .010097, .0102},
        {format::mxfp4, .109049, .182111},
    };
    for (auto const& k : known)
        for (auto const how : {rounding::nearest, rounding::random}) {
            block_float const c{k.f, 0, how};
            CAPTURE(to_string(c));
            double const constant = how == rounding::nearest ? k.nearest : k.random;
            double const said = how == rounding::nearest ? 1 - c.delta(320) : c.omega(320);
            CHECK(std::abs(said - constant) < 3e-6);
            double const found = worst_loss(c, 32);
            CHECK(found <= said * (1 + 1e-7));
            CHECK(found > .99 * said);
        }
    // Of fewer numbers in a block less.
    CHECK(1 - block_float{format::mxfp4}.delta(1) == doctest::Approx(1. / 16).epsilon(1e-9));
    CHECK(block_float{format::mxfp4, 8, rounding::random}.omega(320) < .1);
    for (auto const f : {format::float8_e4m3, format::int8, format::int4})
        for (auto const how : {rounding::nearest, rounding::random}) {
            block_float const c{f, 16, how};
            double const said = how == rounding::nearest ? 1 - c.delta(320) : c.omega(320), found = worst_loss(c, 16);
            CAPTURE(to_string(c));
            CHECK(found <= said * (1 + 1e-7));
            CHECK(found > .97 * said);
        }
}

TEST_CASE("nvfp4: scales are off by up to 1/17, or rounded up by 1/8, and blocks far below the largest vanish") {
    kernels::short_layout const e2m1{2, 1, false, true};
    CHECK(std::abs(detail::largest_error(e2m1, rounding::nearest, 16, 6 * 17. / 18, 6 * 17. / 16) - .037118) < 3e-6);
    CHECK(std::abs(detail::largest_error(e2m1, rounding::random, 16, 6 * 8. / 9, 6) - .062274) < 4e-6);
    // The least scale is 2^-6 of what all share, which is 1 here: a quarter of that is the last that becomes 0.
    std::vector<double> x(32, 0);
    x[0] = 2688;
    x[16] = 6 * 0x1p-6;
    x[17] = 0x1p-8;
    x[18] = 0x1.01p-8;
    auto const y = sent_by(block_float{format::nvfp4}, x);
    CHECK(y[0] == 2688);
    CHECK(y[16] == x[16]);
    CHECK(y[17] == 0);
    CHECK(y[18] == 0x1p-7);
    for (double const scale : {1e-300, 1e-30, 1., 1e30, 1e300})  // what all share follows the largest
        for (auto const v : sent_by(block_float{format::nvfp4}, std::vector<double>{3 * scale, -6 * scale, scale}))
            CHECK(std::abs(v / scale) == doctest::Approx(std::round(std::abs(v / scale))).epsilon(1e-12));
    // In long blocks the many that lie halfway to the least number lose most.
    CHECK(
        1 - block_float{format::nvfp4, 64}.delta(64) ==
        doctest::Approx(detail::largest_error(e2m1, rounding::nearest, 64, 6 * 17. / 18, 6 * 17. / 16)).epsilon(1e-9));
    block_float const c{format::nvfp4}, random{format::nvfp4, 0, rounding::random};
    CHECK(c.delta(1 << 20) == doctest::Approx(.96).epsilon(1e-4));
    CHECK(random.omega(1 << 20) == doctest::Approx(.06228).epsilon(1e-3).scale(0));
}

TEST_CASE("random rounding is unbiased, to the nearest is contractive, as the value says") {
    for (std::size_t f = 0; f < kernels::block_names.size(); ++f) {
        block_float const c{static_cast<format>(f)}, random{c.format, 3, rounding::random};
        CHECK((is_contractive(c) && !is_unbiased(c)));
        CHECK((is_unbiased(random) && !is_contractive(random)));
    }
    CHECK(to_string(block_float{}) == "block_float(mxfp4)");
    CHECK(to_string(block_float{format::int8, 128, rounding::random}) ==
          "block_float(int8, block=128, rounding=random)");
    CHECK_THROWS_AS((block_float{static_cast<format>(77)}.check(3)), argument_error);
}

TEST_CASE("blocks of zeros, of subnormal numbers, and what is refused") {
    for (std::size_t f = 0; f < kernels::block_names.size(); ++f)
        for (auto const how : {rounding::nearest, rounding::random}) {
            block_float const c{static_cast<format>(f), 4, how};
            CAPTURE(to_string(c));
            CHECK(sent_by(c, std::vector<float>(9, 0)) == std::vector<float>(9, 0));
            CHECK(sent_by(c, std::vector<float>{}).empty());
            // Half of the least float is lost at most, and what a scale of 2^-127 does not reach.
            std::vector<float> const small{0x1p-149f, -0x1p-140f, 0x1p-127f, 0x1p-130f, 0, 1, 2, 3};
            auto const y = sent_by(c, small);
            CHECK(std::abs(y[2] - small[2]) <= 0x1p-126f);
            CHECK(y[1] <= 0);
            for (float const bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
                CHECK_THROWS_WITH_AS(laws::unchecked(c, std::vector<float>{1, bad}),
                                     "block_float: coordinate 1 is not finite", argument_error);
        }
    CHECK_THROWS_WITH_AS(laws::unchecked(block_float{}, std::vector<double>{1, 0x1p130}),
                         doctest::Contains("coordinate 1 is beyond"), argument_error);
    CHECK_THROWS_WITH_AS(laws::unchecked(block_float{format::int8}, std::vector{1, std::numeric_limits<float>::max()}),
                         doctest::Contains("too large"), argument_error);
}

TEST_CASE_TEMPLATE("microscaling formats keep the laws of the theory", T, float, double) {
    for (char const* name : {"mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4"}) {
        auto const text = detail::concat({"block_float(", name});
        laws::is_contractive_for_all<T>(laws::forms<T>((text + ")").c_str()), 10, 1);
        laws::is_unbiased_for_all<T>(laws::forms<T>((text + ", block=5, rounding=random)").c_str()), 20, 4000);
    }
}
