// SPDX-License-Identifier: Apache-2.0
// top_k keeps the largest magnitudes, the lower coordinate where equal, with delta k / d reached at equal ones.
// With a chunk it does so in each of them.
// about_top_k keeps the largest coordinates, as many as its band allows, and is contractive with its delta.
// top_blocks keeps the blocks of most energy, the lower where equal, with a delta that is attained.
#include "laconic/compress/top_k.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

using vec = std::vector<double>;

static_assert(Compressor<top_k<>> && Compressor<top_k<>, float> && Contractive<top_k<>> && !Unbiased<top_k<>>);

static_assert(Contractive<top_k<natural>> && Contractive<top_k<top_k<quantize>>> && !Unbiased<top_k<natural>>);
static_assert(!Contractive<top_k<threshold<>>>);

TEST_CASE("by hand: of equal ones the lower coordinate") {
    vec const x{2, -9, 4, 9, -4};
    auto const sent_by = [&](auto k) { return laws::received(top_k{k}, x, key{1}); };
    CHECK(sent_by(1) == vec{0, -9, 0, 0, 0});
    CHECK(sent_by(2) == vec{0, -9, 0, 9, 0});
    CHECK(sent_by(3) == vec{0, -9, 4, 9, 0});
    CHECK(sent_by(0.8) == vec{0, -9, 4, 9, -4});
    CHECK(sent_by(5) == x);
    CHECK(sent_by(0) == vec(5, 0.0));
    CHECK(laws::compress(top_k{2}, vec(6, -1.0), key{1}).support == std::vector<coordinate>{0, 1});
}

TEST_CASE("delta = k / d is reached where all magnitudes are equal, and only bounds the rest") {
    for (std::size_t d : {2u, 7u, 16u, 100u})
        for (std::size_t k = 1; k <= d; k += 3) {
            vec x(d, 3.0);
            x[d / 2] = -3;
            double const kept = 1 - laws::moments_of(top_k{k}, x, 1, key{1}).error / laws::energy(x);
            CHECK(kept == doctest::Approx(top_k{k}.delta(d)).epsilon(1e-14));
            CHECK(top_k{k}.delta(d) == doctest::Approx(static_cast<double>(k) / static_cast<double>(d)));
        }
    CHECK(top_k{3}.delta(0) == 1);
}

TEST_CASE("delta of a pipe") {
    CHECK((top_k{10} | natural{}).delta(100) == doctest::Approx(0.1 * 7 / 8));
    CHECK((top_k{10} | top_k{5}).delta(100) == doctest::Approx(0.05));
    CHECK((top_k{16} | quantize{8}).delta(64) == doctest::Approx(0.25 * (1 - 16.0 / 256)));
    CHECK((top_k{20} | rand_k{15}).delta(100) == doctest::Approx(0.2 * (1 - (20.0 / 15 - 1))));
    CHECK_THROWS_WITH_AS((top_k{16} | quantize{1}).delta(64),
                         doctest::Contains("quantize(1) has omega = 3 >= 1 on 16 values"), theory_error);
    CHECK_THROWS_AS((top_k{20} | rand_k{10}).delta(100), theory_error);
}

TEST_CASE("parameters are checked, the rest's against k") {
    CHECK_THROWS_AS(top_k{6}.check(5), argument_error);
    CHECK_THROWS_AS(top_k{1.5}.check(5), argument_error);
    CHECK_THROWS_AS((top_k{3} | top_k{4}).check(5), argument_error);
    CHECK_THROWS_AS((top_k{3} | quantize{0}).check(5), argument_error);
    CHECK_NOTHROW(top_k{5}.check(5));
}

TEST_CASE("of each chunk the largest, of a short one all") {
    vec const x{2, -9, 4, 9, -4, 1, 1, 0, 3};
    auto const sent_by = [&](portion k, std::size_t chunk) { return laws::received(top_k{k, chunk}, x, key{1}); };
    CHECK(sent_by(1, 4) == vec{0, -9, 0, 0, -4, 0, 0, 0, 3});
    CHECK(sent_by(0.5, 4) == vec{0, -9, 0, 9, -4, 1, 0, 0, 3});
    CHECK(sent_by(2, 4) == sent_by(0.5, 4));
    CHECK(sent_by(3, 5) == vec{0, -9, 4, 9, 0, 1, 1, 0, 3});
    CHECK(sent_by(2, 9) == sent_by(2, 0));
    CHECK(sent_by(2, 10) == sent_by(2, 0));
    CHECK(sent_by(20, 20) == x);
    CHECK(sent_by(0, 4) == vec(9, 0.0));
    for (std::size_t d = 0; d < 40; ++d) {  // as chunk by chunk
        vec numbers(d);
        for (std::size_t i = 0; i < d; ++i) numbers[i] = key{d}.uniform(i) - 0.5;
        vec expected;
        for (std::size_t first = 0; first < d; first += 7) {
            vec const part(numbers.begin() + first, numbers.begin() + std::min(first + 7, d));
            auto const sent = laws::received(top_k{std::min<std::size_t>(3, part.size())}, part, key{1});
            expected.insert(expected.end(), sent.begin(), sent.end());
        }
        CHECK(laws::received(top_k{3, 7}, numbers, key{1}) == expected);
    }
}

TEST_CASE("delta is that of a chunk, whatever the length, and is attained") {
    for (std::size_t d : {16u, 17u, 23u, 160u}) {
        CHECK(top_k{4, 16}.delta(d) == 0.25);
        CHECK(top_k{0.25, 16}.delta(d) == 0.25);
        CHECK((top_k{4, 16} | natural{}).delta(d) == doctest::Approx(0.25 * 7 / 8));
    }
    CHECK(top_k{4, 16}.delta(8) == 0.5);
    CHECK(top_k{4, 16}.delta(3) == 1);
    CHECK(top_k{4, 16}.delta(0) == 1);
    vec const equal(48, -3.0);
    CHECK(laws::moments_of(top_k{4, 16}, equal, 1, key{1}).error == doctest::Approx(0.75 * laws::energy(equal)));
    // The rest gets the numbers of all chunks: 4, 4 and 3.
    CHECK((top_k{4, 16} | top_k{8}).delta(35) == doctest::Approx(0.25 * 8 / 11));
}

TEST_CASE("a count is checked against the chunk, and short vectors are sent in full") {
    CHECK_NOTHROW((top_k{64, 4096}.check(10)));
    CHECK_THROWS_WITH_AS((top_k{65, 64}.check(100)), doctest::Contains("k = 65 is above"), argument_error);
    CHECK_THROWS_AS((top_k{1.5, 64}.check(100)), argument_error);
    CHECK(to_string(top_k{64, 4096}) == "top_k(64, chunk=4096)");
    CHECK(to_string(top_k{64}) == "top_k(64)");
}

static_assert(Compressor<about_top_k<>> && Compressor<about_top_k<>, float>);
static_assert(Contractive<about_top_k<>> && !Unbiased<about_top_k<>>);

// Whatever the numbers are, their count is in the band, and they are the largest: what top_k of that count keeps.
TEST_CASE_TEMPLATE("the band is kept, always, by the largest coordinates", T, float, double) {
    auto vectors = laws::vectors<T>();
    std::vector<T> tails(5000), geometric(2000), same(3000, T(0.13));
    for (std::size_t i = 0; i < tails.size(); ++i) tails[i] = static_cast<T>(std::tan(3.1 * (key{1}.uniform(i) - 0.5)));
    for (std::size_t i = 0; i < geometric.size(); ++i)
        geometric[i] = static_cast<T>(std::ldexp(1.0, -static_cast<int>(i % 100)));
    std::vector<T> close(4000);
    for (std::size_t i = 0; i < close.size(); ++i)
        close[i] = T(1) + static_cast<T>(i * 997 % 4000) * std::numeric_limits<T>::epsilon();
    for (auto const& x : {tails, geometric, same, close}) vectors.push_back(x);
    int coarse = 0;
    for (auto const& x : vectors)
        for (double const fraction : {0.01, 0.1, 0.3, 1.0})
            for (double const band : {0.0, 0.1, 0.5}) {
                about_top_k const c{std::max(1.0, std::floor(fraction * static_cast<double>(x.size()))), band};
                if (x.empty()) continue;
                auto const m = compress(c, x, key{1});
                double const n = static_cast<double>(m.support.size()), k = static_cast<double>(c.k.of(x.size()));
                CHECK(n >= (1 - band) * k);
                CHECK(n <= (1 + band) * k);
                CHECK(m.support == compress(top_k{n}, x, key{1}).support);
                coarse += n != k;
            }
    for (auto const& x : {tails, geometric, same, close}) laws::compress(about_top_k{0.1}, x, key{1});
    CHECK(coarse > 5);  // else no threshold was ever taken
}

TEST_CASE("constants and parameters") {
    CHECK(about_top_k{10}.delta(100) == doctest::Approx(0.09));
    CHECK((about_top_k{10, 0.5} | natural{}).delta(100) == doctest::Approx(0.875 * 0.05));
    CHECK(about_top_k{1}.delta(10) == doctest::Approx(0.1));
    CHECK_THROWS_AS(about_top_k{11}.check(10), argument_error);
    for (double const band : {-0.1, 1.0, std::numeric_limits<double>::quiet_NaN()})
        CHECK_THROWS_AS((about_top_k{1, band}.check(10)), argument_error);
    CHECK(to_string(about_top_k{10}) == "about_top_k(10)");
    CHECK(to_string(about_top_k{10, 0.25}) == "about_top_k(10, band=0.25)");
}

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
