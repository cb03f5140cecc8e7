// SPDX-License-Identifier: Apache-2.0
// about_top_k keeps the largest coordinates, as many as its band allows, and is contractive with its delta.
#include "laconic/compress/about_top_k.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

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
