// SPDX-License-Identifier: Apache-2.0
// Powers of two, short floats and signs on the device are the reference's codes.
#include "laconic/backend/device/round.hpp"

#include "support/both.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace laconic::kernels;
using both::here;
using both::in;

TEST_CASE_TEMPLATE("powers of two are the reference's, wherever the draws begin", T, float, double) {
    device on;
    reference plain;
    both::each_finite_vector<T>([&](std::vector<T> const& x) {
        auto const a = both::there(on, x);
        device::array<std::uint16_t> codes(x.size());
        std::vector<std::uint16_t> expected(x.size());
        for (std::uint64_t const first : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1003}}) {
            round_to_powers(on, in(a), key{7}, first, std::span(codes));
            round_to_powers(plain, in(x), key{7}, first, std::span(expected));
            CHECK(here(on, codes) == expected);
        }
    });
}

TEST_CASE_TEMPLATE("short formats are the reference's, for any bits and near every border", T, float, double) {
    device on;
    reference plain;
    using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    for (auto const format : {short_format::binary16, short_format::bfloat, short_format::e4m3, short_format::e5m2}) {
        short_layout const f = layout_of(format);
        std::vector<T> x;
        for (std::uint64_t i = 0; i < 5000; ++i) x.push_back(std::bit_cast<T>(static_cast<bits>(key{3}.long_word(i))));
        for (std::uint16_t c = 0; c < f.largest(); c = static_cast<std::uint16_t>(c + (f.width() == 8 ? 1 : 37))) {
            T const low = short_value<T>(f, c), high = short_value<T>(f, static_cast<std::uint16_t>(c + 1));
            T const halfway = low / 2 + high / 2;
            for (T const v : {low, -high, std::nextafter(halfway, T(0)), -halfway, std::nextafter(halfway, high)})
                x.push_back(v);
        }
        auto const a = both::there(on, x);
        device::array<std::uint16_t> codes(x.size());
        std::vector<std::uint16_t> expected(x.size());
        round_to_short(on, in(a), f, std::span(codes));
        round_to_short(plain, in(x), f, std::span(expected));
        CHECK(here(on, codes) == expected);
    }
}

TEST_CASE_TEMPLATE("signs", T, float, double) {
    device on;
    reference plain;
    both::each_vector<T>([&](std::vector<T> const& x) {
        auto const a = both::there(on, x);
        device::array<std::uint64_t> words((x.size() + 63) / 64);
        std::vector<std::uint64_t> expected(words.size());
        pack_signs(on, in(a), std::span(words));
        pack_signs(plain, in(x), std::span(expected));
        CHECK(here(on, words) == expected);
    });
}
