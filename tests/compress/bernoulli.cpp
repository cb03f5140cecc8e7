// SPDX-License-Identifier: Apache-2.0
// bernoulli keeps each coordinate independently with probability p, is unbiased, and has the omega 1 / p - 1.
#include "laconic/compress/bernoulli.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

using namespace laconic;
using vec = std::vector<double>;

static_assert(Compressor<bernoulli<>> && Compressor<bernoulli<>, float> && Unbiased<bernoulli<>> &&
              !Contractive<bernoulli<>>);

static_assert(Unbiased<bernoulli<quantize>> && !Unbiased<bernoulli<top_k<>>> && !Contractive<bernoulli<quantize>>);

TEST_CASE("by hand: what is kept is doubled, where it stands costs nothing") {
    vec const x{1, 2, 3, 4};
    bool some = false;
    for (std::uint64_t k = 0; k < 50; ++k) {
        auto const m = laws::compress(bernoulli{0.5}, x, key{k});
        for (std::size_t j = 0; j < m.support.size(); ++j) CHECK(m.payload.values[j] == 2 * x[m.support[j]]);
        CHECK(bits(m) == 64 * m.support.size());
        some = some || (m.support.size() != 0 && m.support.size() != 4);
    }
    CHECK(some);
    CHECK(laws::received(bernoulli{1}, x, key{1}) == x);
}

// Each set of three coordinates has probability 1/4^s 3/4^(3 - s); all counts within 5 sigma.
TEST_CASE("coordinates are kept independently, each with probability p") {
    vec const x{1, 1, 1};
    int const n = 8000;
    int count[8] = {};
    for (std::uint64_t k = 0; k < n; ++k) {
        int set = 0;
        for (coordinate const i : laws::compress(bernoulli{0.25}, x, key{7}.child(k)).support) set |= 1 << i;
        ++count[set];
    }
    for (int set = 0; set < 8; ++set) {
        int const s = (set & 1) + (set >> 1 & 1) + (set >> 2);
        double const q = std::pow(0.25, s) * std::pow(0.75, 3 - s);
        CHECK(std::abs(count[set] - n * q) < 5 * std::sqrt(n * q * (1 - q)));
    }
}

TEST_CASE("omega: 1 / p - 1, and the rest's worst length counts") {
    CHECK(bernoulli{0.25}.omega(10) == 3);
    CHECK((bernoulli{0.5} | natural{}).omega(10) == doctest::Approx(1.25));
    // rand_k{0.1} keeps one of up to 14 values, and two of 15: omega 13 at 14 is the worst up to 20.
    CHECK((bernoulli{0.5} | rand_k{0.1}).omega(20) == doctest::Approx(27));
}

TEST_CASE("a probability that counts no 2^-32 is drawn as the next lower one that does, and the scale is its inverse") {
    // 0.3 2^32 = 1288490188.8; three halves of 2^-32 are drawn as one.
    double const drawn = 1288490188;
    CHECK(bernoulli{0.3}.scale(4) == 0x1p32 / drawn);
    CHECK(bernoulli{0.3}.omega(4) == 0x1p32 / drawn - 1);
    CHECK(bernoulli{0x1.8p-32}.scale(4) == 0x1p32);
    CHECK(bernoulli{0x1.8p-32}.omega(4) == 0x1p32 - 1);
    vec const x{1, 2, 3, 4};
    std::size_t seen = 0;
    for (std::uint64_t k = 0; k < 50; ++k) {
        auto const m = laws::compress(bernoulli{0.3}, x, key{k});
        seen += m.support.size();
        for (std::size_t j = 0; j < m.support.size(); ++j)
            CHECK(m.payload.values[j] == x[m.support[j]] * (0x1p32 / drawn));
    }
    CHECK(seen > 0);
}

TEST_CASE("probabilities that are none, or too small to draw, are refused") {
    for (double const p : {0.0, -0.5, 1.5, 1e-10, std::numeric_limits<double>::quiet_NaN()})
        CHECK_THROWS_AS(bernoulli{p}.check(4), argument_error);
    CHECK_NOTHROW(bernoulli{1}.check(0));
    CHECK_NOTHROW(bernoulli{0x1p-32}.check(4));
}
