// SPDX-License-Identifier: Apache-2.0
// threshold keeps what exceeds its bound, one for all or one for each coordinate, with the error of its bounds.
// zero_blocks is the identity, leaves out blocks of zeros, and keeps a block that has a NaN.
#include "laconic/compress/threshold.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

using vec = std::vector<double>;

static_assert(Compressor<threshold<>> && Compressor<threshold<>, float>);
static_assert(!Unbiased<threshold<>> && !Contractive<threshold<>>);
static_assert(Compressor<threshold<identity, std::span<double const>>>);

template <class Rest>
inline constexpr bool laws::is_written<threshold<Rest, std::span<double const>>> = false;

using laws::sent_by;

TEST_CASE("by hand: above the bound, not at it") {
    vec const x{2, -9, 4, 9, -4};
    CHECK(sent_by(threshold{4}, x) == vec{0, -9, 0, 9, 0});
    CHECK(sent_by(threshold{3.5}, x) == vec{0, -9, 4, 9, -4});
    CHECK(sent_by(threshold{9}, x) == vec(5, 0.0));
    CHECK(sent_by(threshold{std::numeric_limits<double>::max()}, x) == vec(5, 0.0));
    CHECK(laws::compress(threshold{0}, vec{0, -1, -0.0, 1e-320}, key{1}).support == std::vector<coordinate>{1, 3});
}

TEST_CASE("the error is at most the sum of the squared bounds") {
    for (auto const& x : laws::theory_vectors<double>())
        for (double bound : {0.01, 0.5, 2.0, 10.0}) {
            auto const m = laws::moments_of(threshold{bound}, x, 1, key{1});
            CHECK(m.error <= static_cast<double>(x.size()) * bound * bound);
        }
    vec const at(5, 2.0);
    CHECK(laws::moments_of(threshold{2}, at, 1, key{1}).error == 5 * 2 * 2);  // reached
}

TEST_CASE("one bound for each coordinate") {
    vec const x{2, -9, 4, 9, -4}, bounds{1, 10, 4, 8, std::numeric_limits<double>::infinity()};
    threshold<identity, std::span<double const>> const c{bounds};
    CHECK(sent_by(c, x) == vec{2, 0, 0, 9, 0});
    CHECK(sent_by(c | natural{}, x)[0] == 2);
    CHECK(to_string(c) == "threshold(per coordinate)");
    CHECK_THROWS_AS(c.check(4), shape_error);
    CHECK_NOTHROW(c.check(5));
    vec const same = bounds;
    auto const copy = c;
    CHECK(copy == c);
    CHECK(c != threshold<identity, std::span<double const>>{same});  // two places, even with equal numbers
    laws::obeys_the_laws(c, x, vec{1, 1, 1, 1, 11}, key{1});
}

TEST_CASE("the bound is checked") {
    CHECK_THROWS_AS(threshold{-1}.check(5), argument_error);
    CHECK_THROWS_AS(threshold{std::nan("")}.check(5), argument_error);
    CHECK_NOTHROW(threshold{0}.check(5));
    CHECK_THROWS_AS((threshold{0} | top_k{6}).check(5), argument_error);
}

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
