// SPDX-License-Identifier: Apache-2.0
// proportional keeps coordinates with probabilities that follow their size, with its known counts and errors.
#include "laconic/compress/proportional.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

static_assert(Compressor<proportional<>> && Compressor<proportional<>, float> && Unbiased<proportional<>>);
static_assert(Contractive<proportional<identity, true>> && !Unbiased<proportional<identity, true>>);

detail::proportion of(std::vector<double> const& magnitudes, std::size_t k) {
    return detail::proportion_for(std::span<double const>(magnitudes), k);
}

TEST_CASE("the known probabilities and shares for (4, 3, 2, 1)") {
    std::vector<double> const x{4, 3, 2, 1};
    CHECK(of(x, 1).bound == doctest::Approx(10));  // p = .4, .3, .2, .1
    CHECK(of(x, 1).share == doctest::Approx(.3));
    CHECK(of(x, 2).bound == doctest::Approx(5));
    CHECK(of(x, 2).share == doctest::Approx(.6));
    CHECK(of(x, 3).bound == doctest::Approx(3));  // p = 1, 1, 2/3, 1/3
    CHECK(of(x, 3).share == doctest::Approx(15. / 17));
    CHECK(of(x, 4).share == doctest::Approx(1));
    CHECK(of({10, 1, 1, 1}, 2).bound == doctest::Approx(3));  // p = 1, 1/3, 1/3, 1/3
    CHECK(of({10, 1, 1, 1}, 2).share == doctest::Approx(103. / 109));
}

TEST_CASE("numbers of very different size, zeros, and more than there is") {
    CHECK(of({1e20, 1, 1, 1}, 2).bound == doctest::Approx(3));
    CHECK(of({5, 4, 0, 0}, 3).bound == 0);
    CHECK(of({5, 4, 0, 0}, 3).share == 1);
    CHECK(of({0, 0}, 1).bound == 0);
    CHECK(of({0, 0}, 1).share == 1);
    CHECK(of({}, 1).share == 1);
    CHECK(of({7, 7, 7, 7}, 1).share == doctest::Approx(.25));
}

TEST_CASE_TEMPLATE("the counts, the means and the errors are those of the probabilities", T, float, double) {
    for (auto const& x : laws::theory_vectors<T>())
        for (std::size_t const k : {std::size_t{1}, (x.size() + 1) / 2, x.size()}) {
            CAPTURE(k);
            auto magnitudes = x;
            for (T& v : magnitudes) v = std::abs(v);
            std::sort(magnitudes.begin(), magnitudes.end(), std::greater<>{});
            auto const share = detail::proportion_for(std::span<T const>(magnitudes), k).share;
            double const all = laws::energy(x);
            CHECK(share >= double(k) / double(x.size()) * (1 - 1e-12));

            auto const plain = laws::moments_of<T>(proportional<>{k}, x, laws::trials, key{7 + k});
            for (std::size_t i = 0; i < x.size(); ++i)
                CHECK(std::abs(plain.mean[i] - double(x[i])) <=
                      5 * std::sqrt(plain.variance[i] / plain.n) + laws::rounding<T> * std::sqrt(all));
            CHECK(std::abs(plain.error - (1 / share - 1) * all) <=
                  5 * std::sqrt(plain.error_variance / plain.n) + 100 * laws::rounding<T> * all);
            CHECK(plain.error <= proportional<>{k}.omega(x.size()) * all +
                                     5 * std::sqrt(plain.error_variance / plain.n) + 100 * laws::rounding<T> * all);
            double const nonzero = double(std::count_if(x.begin(), x.end(), [](T v) { return v != 0; }));
            CHECK(std::abs(plain.nonzeros - std::min(double(k), nonzero)) <=
                  5 * std::sqrt(plain.nonzeros_variance / plain.n) + 1e-9);

            auto const damped = laws::moments_of<T>(proportional<identity, true>{k}, x, laws::trials, key{9 + k});
            CHECK(std::abs(damped.error - (1 - share) * all) <=
                  5 * std::sqrt(damped.error_variance / damped.n) + 100 * laws::rounding<T> * all);
        }
}

TEST_CASE("what it cannot do is refused") {
    CHECK_THROWS_AS(proportional{0}.check(3), argument_error);
    CHECK_THROWS_AS(proportional{4}.check(3), argument_error);
    CHECK_THROWS_AS(compress(proportional{1}, std::vector<double>{1, NAN}, key{1}), argument_error);
    CHECK_THROWS_AS(compress(proportional{1}, std::vector<double>{1.7e308, 1.7e308}, key{1}), argument_error);
    CHECK_THROWS_AS(compress(proportional<identity, true>{1}, std::vector<float>{3e38f, -3e38f}, key{1}),
                    argument_error);
}
