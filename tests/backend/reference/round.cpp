// SPDX-License-Identifier: Apache-2.0
// The reference rounds up where fraction and chance make 1, and its nearest codes and signs are right by hand.
#include "laconic/backend/reference/round.hpp"

#include "support/everything.hpp"

using namespace laconic;
using namespace laconic::kernels;

namespace {

// The key whose stream begins with a chance below or above the middle.
key low_or_high(bool high) {
    key k{0};
    while ((k.chance(0) >> 31 != 0) != high) ++k.bits;
    return k;
}

}  // namespace

// Half a step below -1, half of the way from 1 to 2, and from 2 to 4: the first chance says which.
TEST_CASE_TEMPLATE("up where the fraction and the chance make a whole", T, float, double) {
    reference on;
    for (bool const high : {false, true}) {
        key const k = low_or_high(high);
        int const up = high ? 1 : 0;
        std::vector<T> const x{T(-1.5)}, y{3};
        std::vector<std::int16_t> levels(1);
        round_to_levels(on, std::span<T const>(x), T(1), 4, k, 0, std::span(levels));
        CHECK(levels[0] == -2 + up);
        round_to_halvings(on, std::span<T const>(x), T(4), 3, k, 0, std::span(levels));  // 0, 1, 2 and 4
        CHECK(levels[0] == -1 - up);
        round_to_halvings(on, std::span<T const>(y), T(4), 3, k, 0, std::span(levels));
        CHECK(levels[0] == 2 + up);
        std::vector<std::uint16_t> powers(1);
        round_to_powers(on, std::span<T const>(y), k, 0, std::span(powers));
        CHECK(powers[0] == (sizeof(T) == 4 ? 128 : 1024) + up);
        std::vector<std::uint8_t> codes(1);
        round_to_range(on, std::span<T const>(y), T(-4), T(2), 7, k, 0, std::span(codes));
        CHECK(codes[0] == 3 + up);
    }
}

TEST_CASE_TEMPLATE("what is rounded to the nearest, and signs", T, float, double) {
    reference on;
    std::vector<T> const x{T(-0.75), T(-0.25), T(0.2), 1, T(-0.0)};
    std::vector<std::uint8_t> codes(5);
    round_to_nearest_in_range(on, std::span<T const>(x), T(-0.75), T(0.5), 3, std::span(codes));
    CHECK(codes == std::vector<std::uint8_t>{0, 1, 2, 3, 2});
    std::vector<std::uint16_t> shorts(5);
    round_to_short(on, std::span<T const>(x), layout_of(short_format::binary16), std::span(shorts));
    CHECK(shorts == std::vector<std::uint16_t>{0xba00, 0xb400, 0x3266, 0x3c00, 0x8000});
    std::vector<std::uint64_t> words(1, ~std::uint64_t{0});
    pack_signs(on, std::span<T const>(x), std::span(words));
    CHECK(words[0] == 0b00011);
}
