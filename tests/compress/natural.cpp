// SPDX-License-Identifier: Apache-2.0
// natural rounds at random to powers of two, unbiased, with variances as published and the omega 1/8 reached.
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
              doctest::Approx(p).epsilon(5 * std::sqrt((1 - p) / p / 10000)));
    }
    CHECK(m.largest == static_cast<double>(least));
    for (std::uint64_t k = 0; k < 100; ++k)
        CHECK(laws::received(natural{}, std::vector<float>{max, -max}, key{k}) ==
              std::vector<float>{0x1p127f, -0x1p127f});
}
