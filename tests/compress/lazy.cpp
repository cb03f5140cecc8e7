// SPDX-License-Identifier: Apache-2.0
// lazy sends all or nothing with probability p, is unbiased, and has the omega (1 + omega of the rest) / p - 1.
#include "laconic/compress/lazy.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

using namespace laconic;
using vec = std::vector<double>;

static_assert(Compressor<lazy<>> && Compressor<lazy<>, float> && Unbiased<lazy<>> && !Contractive<lazy<>>);

static_assert(Unbiased<lazy<quantize>> && !Unbiased<lazy<top_k<>>> && !Contractive<lazy<quantize>>);

TEST_CASE("by hand: all, doubled, or nothing") {
    vec const x{1, -2, 3};
    int all = 0;
    for (std::uint64_t k = 0; k < 4000; ++k) {
        auto const m = laws::compress(lazy{0.5}, x, key{k});
        auto const sent = laws::decoded<detail::message_of<lazy<>>, double>(m);
        bool const sends_all = sent == vec{2, -4, 6};
        CHECK((sends_all || sent == vec{0, 0, 0}));
        CHECK(bits(m) == (sends_all ? 192 : 0));
        all += sends_all;
    }
    CHECK(std::abs(all - 2000) < 5 * std::sqrt(1000.));
    CHECK(laws::received(lazy{1}, x, key{1}) == x);
}

TEST_CASE("omega: (1 + omega of the rest) / p - 1") {
    CHECK(lazy{0.25}.omega(10) == 3);
    CHECK((lazy{0.5} | natural{}).omega(10) == doctest::Approx(1.25));
    CHECK((lazy{0.5} | rand_k{2}).omega(8) == doctest::Approx(7));
}

TEST_CASE("a probability that counts no 2^-32 is drawn as the next lower one that does, and the scale is its inverse") {
    // 0.3 2^32 = 1288490188.8; three halves of 2^-32 are drawn as one.
    double const drawn = 1288490188;
    CHECK(lazy{0.3}.scale(4) == 0x1p32 / drawn);
    CHECK(lazy{0.3}.omega(4) == 0x1p32 / drawn - 1);
    CHECK(lazy{0x1.8p-32}.scale(4) == 0x1p32);
    CHECK(lazy{0x1.8p-32}.omega(4) == 0x1p32 - 1);
    vec const x{1, 2, 3, 4};
    std::size_t seen = 0;
    for (std::uint64_t k = 0; k < 50; ++k) {
        auto const m = laws::compress(lazy{0.3}, x, key{k});
        seen += m.support.size();
        for (std::size_t j = 0; j < m.support.size(); ++j)
            CHECK(m.payload.values[j] == x[m.support[j]] * (0x1p32 / drawn));
    }
    CHECK(seen > 0);
}

TEST_CASE("probabilities that are none, or too small to draw, are refused") {
    for (double const p : {0.0, -0.5, 1.5, 1e-10, std::numeric_limits<double>::quiet_NaN()})
        CHECK_THROWS_AS(lazy{p}.check(4), argument_error);
    CHECK_NOTHROW(lazy{1}.check(0));
    CHECK_NOTHROW(lazy{0x1p-32}.check(4));
}
