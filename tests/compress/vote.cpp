// SPDX-License-Identifier: Apache-2.0
// vote sends one bit a number and nothing else, has no omega or delta, and is read without the compressor.
#include "laconic/compress/vote.hpp"

#include "named.hpp"
#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

using vec = std::vector<double>;

static_assert(Compressor<vote> && Compressor<vote, float> && !Contractive<vote> && !Unbiased<vote>);

TEST_CASE("by hand: a bit a number, and nothing else") {
    vec const x{1, -2, 3, 0, -0.0, -1e-300};
    auto const m = laws::compress(vote{}, x, key{});
    CHECK(laws::decoded<decltype(m), double>(m) == vec{1, -1, 1, 1, 1, -1});
    CHECK(account(m).scalars() == 0);
    CHECK(account(m).values() == 6);
    CHECK(bits(m) == 8);
    CHECK(bits_as_paper(m) == 6);
    CHECK(bits(laws::compress(vote{}, vec(1024, -3.0), key{})) == 1024);
    CHECK(laws::received(vote{}, vec{}, key{}).empty());
}

TEST_CASE("on the numbers that a sparsifier chose") {
    CHECK(laws::received(top_k{2} | vote{}, vec{1, -2, 3, 0}, key{}) == vec{0, -1, 1, 0});
}

TEST_CASE("strangers read it") {
    for (std::size_t const d : {0u, 1u, 63u, 64u, 65u, 130u}) {
        auto const x = laws::noise<double>(d, d + 1);
        auto const m = laws::compress(vote{}, x, key{});
        auto const read = read_described(write_described(m));
        CHECK(read.dense);
        CHECK(read.values == laws::decoded<decltype(m), double>(m));
    }
    auto const two = laws::compress(top_k{2} | vote{}, vec{1, -2, 3, 0}, key{});
    auto const read = read_described(write_described(two));
    CHECK(read.at == std::vector<std::uint64_t>{1, 2});
    CHECK(read.values == vec{-1, 1});
}

TEST_CASE("numbers that are not finite are refused") {
    for (double const v : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
        CHECK_THROWS_WITH_AS(laws::unchecked(vote{}, vec{1, v}), "vote: coordinate 1 is not finite", argument_error);
}

TEST_CASE("it has neither constant, nor has a pipe that ends with it") {
    for (char const* const text : {"vote", "top_k(3) | vote", "rand_k(3) | vote", "dense | vote"}) {
        CAPTURE(text);
        auto const c = parse_compressor(text);
        CHECK_FALSE(c.unbiased());
        CHECK_FALSE(c.contractive());
        CHECK_THROWS_AS(c.omega(8), theory_error);
        CHECK_THROWS_AS(c.delta(8), theory_error);
    }
    CHECK(to_string(vote{}) == "vote");
}
