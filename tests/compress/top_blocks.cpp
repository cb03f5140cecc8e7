// SPDX-License-Identifier: Apache-2.0
// top_blocks keeps the blocks of most energy, the lower where equal, with a delta that is attained.
#include "laconic/compress/top_blocks.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

using vec = std::vector<double>;

static_assert(Compressor<top_blocks<>> && Compressor<top_blocks<>, float>);
static_assert(Contractive<top_blocks<>> && !Unbiased<top_blocks<>>);

template <class T>
std::vector<coordinate> kept(std::size_t k, std::size_t block, std::vector<T> const& x) {
    return laws::compress(top_blocks{k, block}, x, key{1}).support;
}

// Sums of squares 5, 25, 25 and 16: of the equal ones the lower block goes first; the last block is shorter.
TEST_CASE("by hand") {
    vec const x{1, 2, 3, 4, 0, 5, 4};
    CHECK(kept(1, 2, x) == std::vector<coordinate>{1});
    CHECK(kept(2, 2, x) == std::vector<coordinate>{1, 2});
    CHECK(kept(3, 2, x) == std::vector<coordinate>{1, 2, 3});
    CHECK(kept(4, 2, x).size() == 4);
    auto const m = laws::compress(top_blocks{3, 2}, x, key{1});
    CHECK(laws::decoded<decltype(m), double>(m) == vec{0, 0, 3, 4, 0, 5, 4});
    CHECK(m.payload.values.size() == 5);
    CHECK(kept(0, 2, x).empty());
    CHECK(kept(2, 2, vec(8, 1.0)) == std::vector<coordinate>{0, 1});
    CHECK(kept(2, 2, vec(8, 0.0)) == std::vector<coordinate>{0, 1});
    CHECK(kept(1, 1000, x).size() == 1);
}

TEST_CASE("one coordinate a block is top_k") {
    for (auto const& x : laws::vectors<float>())
        CHECK(kept(x.size() / 3, 1, x) == laws::compress(top_k{x.size() / 3}, x, key{1}).support);
}

TEST_CASE("squares that underflow or overflow are compared as well") {
    for (double const scale : {1e-300, 1e300})
        CHECK(kept(2, 2, vec{scale, 0, 3 * scale, 0, 2 * scale, 2 * scale, 0, 0}) == std::vector<coordinate>{1, 2});
    double const tiny = std::numeric_limits<double>::denorm_min();
    CHECK(kept(1, 2, vec{0, 0, 0, tiny}) == std::vector<coordinate>{1});
}

TEST_CASE("delta is attained where all blocks weigh the same, and k is checked in blocks") {
    CHECK(top_blocks{1, 4}.delta(16) == 0.25);
    CHECK(top_blocks{2, 4}.delta(17) == doctest::Approx(0.4));
    CHECK((top_blocks{1, 4} | natural{}).delta(8) == doctest::Approx(0.875 / 2));
    // Blocks of 4 and 1; omega is min(b / 64, sqrt(b) / 4), 1/16 for the longer: 15/16 of a half.
    CHECK((top_blocks{1, 4} | quantize{4}).delta(5) == 15. / 32);
    // Blocks of 4 and 3, of which 0.4 are 2 and 1: a third of the shorter one, so 1/6.
    CHECK((top_blocks{1, 4} | top_k{0.4}).delta(7) == doctest::Approx(1. / 6).epsilon(1e-14));
    vec const equal(16, -3.0);
    auto const m = laws::moments_of(top_blocks{1, 4}, equal, 1, key{1});
    CHECK(m.error == doctest::Approx(0.75 * laws::energy(equal)));
    CHECK_THROWS_WITH_AS((top_blocks{5, 4}.check(16)),
                         "k = 5 is above the 4 blocks of 4 numbers into which d = 16 numbers are cut", argument_error);
    CHECK_NOTHROW((top_blocks{4, 4}.check(16)));
    CHECK_THROWS_AS((top_blocks{1, 0}.check(16)), argument_error);
    CHECK_THROWS_AS((top_blocks{1, 4} | top_k{5}).check(16), argument_error);
}
