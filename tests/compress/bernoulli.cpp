// SPDX-License-Identifier: Apache-2.0
// bernoulli keeps each coordinate, lazy all of them, with probability p: unbiased, with an omega of p and the rest.
// Also tests lazy.hpp.
#include "laconic/compress/bernoulli.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

using vec = std::vector<double>;

template <template <class> class C>
constexpr bool is_unbiased_with_such_rests =
    Compressor<C<identity>>&& Compressor<C<identity>, float>&& Unbiased<C<identity>>&& Unbiased<C<quantize>> &&
    !Contractive<C<identity>> && !Contractive<C<quantize>> && !Unbiased<C<top_k<>>>;
static_assert(is_unbiased_with_such_rests<bernoulli> && is_unbiased_with_such_rests<lazy>);

TEST_CASE("bernoulli by hand: what is kept is doubled, where it stands costs nothing") {
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

TEST_CASE("lazy by hand: all, doubled, or nothing") {
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

TEST_CASE("omega: 1 / p - 1; of the rest, bernoulli has the worst length, and lazy the one that there is") {
    CHECK(bernoulli{0.25}.omega(10) == 3);
    CHECK(lazy{0.25}.omega(10) == 3);
    CHECK((bernoulli{0.5} | natural{}).omega(10) == doctest::Approx(1.25));
    CHECK((lazy{0.5} | natural{}).omega(10) == doctest::Approx(1.25));
    // rand_k{0.1} keeps one of up to 14 values, and two of 15: omega 13 at 14 is the worst up to 20.
    CHECK((bernoulli{0.5} | rand_k{0.1}).omega(20) == doctest::Approx(27));
    CHECK((lazy{0.5} | rand_k{2}).omega(8) == doctest::Approx(7));
}

TEST_CASE_TEMPLATE(
    "a probability that counts no 2^-32 is drawn as the next lower one that does, and the scale is its inverse", C,
    bernoulli<>, lazy<>) {
    // 0.3 2^32 = 1288490188.8; three halves of 2^-32 are drawn as one.
    double const drawn = 1288490188;
    CHECK(C{0.3}.scale(4) == 0x1p32 / drawn);
    CHECK(C{0.3}.omega(4) == 0x1p32 / drawn - 1);
    CHECK(C{0x1.8p-32}.scale(4) == 0x1p32);
    CHECK(C{0x1.8p-32}.omega(4) == 0x1p32 - 1);
    vec const x{1, 2, 3, 4};
    std::size_t seen = 0;
    for (std::uint64_t k = 0; k < 50; ++k) {
        auto const m = laws::compress(C{0.3}, x, key{k});
        seen += m.support.size();
        for (std::size_t j = 0; j < m.support.size(); ++j)
            CHECK(m.payload.values[j] == x[m.support[j]] * (0x1p32 / drawn));
    }
    CHECK(seen > 0);
}

TEST_CASE_TEMPLATE("probabilities that are none, or too small to draw, are refused", C, bernoulli<>, lazy<>) {
    for (double const p : {0.0, -0.5, 1.5, 1e-10, std::numeric_limits<double>::quiet_NaN()})
        CHECK_THROWS_AS(C{p}.check(4), argument_error);
    CHECK_NOTHROW(C{1}.check(0));
    CHECK_NOTHROW(C{0x1p-32}.check(4));
}
