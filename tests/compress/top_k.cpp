// SPDX-License-Identifier: Apache-2.0
// top_k keeps the largest magnitudes, the lower coordinate where equal, with delta k / d reached at equal ones.
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
