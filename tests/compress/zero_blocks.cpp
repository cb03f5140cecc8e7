// SPDX-License-Identifier: Apache-2.0
// zero_blocks is the identity, leaves out blocks of zeros, and keeps a block that has a NaN.
#include "laconic/compress/zero_blocks.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

using vec = std::vector<double>;

static_assert(Compressor<zero_blocks<>> && Compressor<zero_blocks<>, float>);
static_assert(Unbiased<zero_blocks<>> && Contractive<zero_blocks<>>);

TEST_CASE("zero_blocks is the identity") {
    for (std::size_t const block : {std::size_t{1}, std::size_t{3}, std::size_t{256}})
        for (auto const& x : laws::vectors<double>()) {
            auto const m = laws::compress(zero_blocks{block}, x, key{1});
            CHECK(laws::decoded<decltype(m), double>(m) == x);
        }
}

TEST_CASE("by hand: blocks of zeros, also of negative ones, are not sent; the last block is shorter") {
    auto const m = laws::compress(zero_blocks{2}, vec{0, -0.0, 0, 1, 0, 0, 7}, key{1});
    CHECK(m.support == std::vector<coordinate>{1, 3});
    CHECK(m.payload.values == vec{0, 1, 7});
    CHECK(laws::compress(zero_blocks{2}, vec(8, 0.0), key{1}).support.empty());
    CHECK(laws::compress(zero_blocks{100}, vec{0, 1}, key{1}).payload.values == vec{0, 1});
    CHECK(laws::compress(zero_blocks{1}, vec{}, key{1}).support.empty());
    CHECK(laws::compress(zero_blocks{3}, vec{0, 0, 0, std::numeric_limits<double>::denorm_min()}, key{1})
              .support.size() == 1);
}

// A peer's bitmap asks whether |x| is above 0, which a NaN is not, and overwrites the block with zeros.
TEST_CASE("a block of zeros and a NaN is not dropped") {
    host on;
    detail::message_of<zero_blocks<>> m;
    vec const x{0, 0, std::numeric_limits<double>::quiet_NaN(), 0};
    zero_blocks const c{2};
    c(on, std::span<double const>(x), key{1}, m);
    CHECK(m.support == std::vector<coordinate>{1});
}

TEST_CASE("constants: those of the rest at its worst") {
    CHECK(zero_blocks{4}.omega(100) == 0);
    CHECK(zero_blocks{4}.delta(100) == 1);
    CHECK((zero_blocks{4} | quantize{1}).omega(16) == doctest::Approx(3));
    CHECK((zero_blocks{4} | top_k{2}).delta(10) == doctest::Approx(0.2));
    CHECK_THROWS_AS(zero_blocks{0}.check(4), argument_error);
    CHECK_THROWS_AS(zero_blocks{std::size_t{1} << 33}.check(4), argument_error);
}
