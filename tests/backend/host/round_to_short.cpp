// SPDX-License-Identifier: Apache-2.0
// Codes of a short format stay, other numbers go to the nearest, up to the ends.
#include "laconic/backend/host/round_to_short.hpp"

#include "support/everything.hpp"

using namespace laconic::kernels;

constexpr short_format all[] = {short_format::binary16, short_format::bfloat, short_format::e4m3, short_format::e5m2};

template <class B, class T>
std::vector<std::uint16_t> codes_of(short_layout f, std::vector<T> const& x) {
    B on;
    std::vector<std::uint16_t> codes(x.size());
    round_to_short(on, std::span<T const>(x), f, std::span(codes));
    return codes;
}
// Of one that is alone, and of one among many others, which are rounded together.
template <class T>
std::uint16_t code_of(short_layout f, T x) {
    auto const alone = codes_of<host, T>(f, {x})[0];
    std::vector<T> ones(rounded_together + 1, T(1));
    for (std::size_t const at : {std::size_t{0}, std::size_t{9}, rounded_together - 1}) {
        auto here = ones;
        here[at] = x;
        CHECK(codes_of<host, T>(f, here)[at] == alone);
        CHECK(codes_of<host, T>(f, here)[at == 0 ? 1 : 0] == codes_of<host, T>(f, ones)[0]);
    }
    return alone;
}

TEST_CASE_TEMPLATE("numbers of the format stay, with their signs", T, float, double) {
    for (auto const format : all) {
        short_layout const f = layout_of(format);
        CAPTURE(std::string(name_of(format)));
        std::vector<T> x;
        std::vector<std::uint16_t> codes;
        for (int c = 0; c < 1 << f.width(); ++c)
            if (f.is_finite(static_cast<std::uint16_t>(c))) {
                codes.push_back(static_cast<std::uint16_t>(c));
                x.push_back(short_value<T>(f, codes.back()));
            }
        CHECK(codes_of<host, T>(f, x) == codes);
        CHECK(codes_of<reference, T>(f, x) == codes);
    }
}

TEST_CASE_TEMPLATE("halfway between two: the even code; a hair from there: the nearer", T, float, double) {
    for (auto const format : all) {
        short_layout const f = layout_of(format);
        CAPTURE(std::string(name_of(format)));
        std::vector<T> x;
        std::vector<std::uint16_t> expected;
        for (std::uint16_t c = 0; c < f.largest(); ++c)
            for (bool const negative : {false, true}) {
                auto const up = static_cast<std::uint16_t>(c + 1), sign = negative ? f.sign() : std::uint16_t{0};
                T const halfway = short_value<T>(f, c) / 2 + short_value<T>(f, up) / 2;
                T const near[] = {std::nextafter(halfway, T(0)), halfway,
                                  std::nextafter(halfway, std::numeric_limits<T>::max())};
                for (T const v : near) x.push_back(negative ? -v : v);
                expected.push_back(c | sign);
                expected.push_back((c % 2 == 0 ? c : up) | sign);
                expected.push_back(up | sign);
            }
        CHECK(codes_of<host, T>(f, x) == expected);
        CHECK(codes_of<reference, T>(f, x) == expected);
    }
}

TEST_CASE_TEMPLATE("the ends: too large becomes the largest, too small becomes 0, what is no number is NaN", T, float,
                   double) {
    using limits = std::numeric_limits<T>;
    for (auto const format : all) {
        short_layout const f = layout_of(format);
        CAPTURE(std::string(name_of(format)));
        T const largest = short_value<T>(f, f.largest()), least = short_value<T>(f, 1);
        for (T const v : {std::nextafter(largest, limits::max()), largest * T(1.25), limits::max()}) {
            if (!std::isfinite(v)) continue;  // bf16 reaches nearly as far as float
            CHECK(code_of(f, v) == f.largest());
            CHECK(code_of(f, -v) == (f.largest() | f.sign()));
        }
        for (T const v :
             {least / 2, limits::min() / 2 < least / 2 ? limits::min() / 2 : T(0), limits::denorm_min(), T(0)}) {
            CHECK(code_of(f, v) == 0);
            CHECK(code_of(f, -v) == f.sign());
        }
        CHECK(code_of(f, std::nextafter(least / 2, T(1))) == 1);
        for (T const bad : {limits::infinity(), limits::quiet_NaN()}) {
            CHECK_FALSE(f.is_finite(code_of(f, bad)));
            CHECK(codes_of<host, T>(f, {bad, -bad}) == codes_of<reference, T>(f, {bad, -bad}));
        }
        CHECK(code_of(f, limits::infinity()) == f.nan());
    }
}

// 1 + 2^-11 + 2^-30 is above the middle of 1 and the next half, 1 + 2^-10; as a float it is that middle, and would
// be 1.
TEST_CASE("a double is rounded once") {
    double const x = 1 + 0x1p-11 + 0x1p-30;
    short_layout const f = layout_of(short_format::binary16);
    CHECK(code_of(f, x) == 0x3c01);
    CHECK(code_of(f, static_cast<float>(x)) == 0x3c00);
}
