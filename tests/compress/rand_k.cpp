// SPDX-License-Identifier: Apache-2.0
// rand_k keeps every set of k coordinates equally often, scaled by d / k, with its exact mean and variance.
#include "laconic/compress/rand_k.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

using vec = std::vector<double>;

static_assert(Compressor<rand_k<>> && Compressor<rand_k<>, float> && Unbiased<rand_k<>> && !Contractive<rand_k<>>);

static_assert(Unbiased<rand_k<quantize>> && !Contractive<rand_k<quantize>>);

// Two of four: what is kept is doubled, and the wire carries two numbers and nothing else.
TEST_CASE("by hand") {
    vec const x{1, 2, 3, 4};
    auto const m = laws::compress(rand_k{2}, x, key{1});
    REQUIRE(m.support.size() == 2);
    for (std::size_t j = 0; j < 2; ++j) CHECK(m.payload.values[j] == 2 * x[m.support[j]]);
    CHECK(bits(m) == 128);

    host on;
    detail::message_of<rand_k<>> theirs;
    rand_k{2}.blank(on, 4, key{1}, theirs);
    CHECK(theirs.support == m.support);
    CHECK(laws::received(rand_k{4}, x, key{1}) == x);
    CHECK(laws::compress(rand_k{0.5}, vec{}, key{1}).dimension() == 0);
}

// Every set of k coordinates turns up; the mean over all of them, each once, is x, and the mean error (d / k - 1)
// |x|^2.
TEST_CASE("mean and variance over every set, exactly; every set equally often") {
    vec const x{3, -1, 0.5, 2, -7, 0.25};
    double const sets[] = {6, 15, 20, 15, 6};
    for (std::size_t k = 1; k < 6; ++k) {
        CAPTURE(k);
        int const n = 6000;
        std::map<std::vector<coordinate>, int> count;
        vec mean(6);
        double error = 0;
        for (std::uint64_t t = 0; t < n; ++t) {
            auto const m = laws::compress(rand_k{k}, x, key{9}.child(t));
            if (++count[m.support] > 1) continue;
            auto const v = laws::decoded<decltype(m), double>(m);
            for (std::size_t i = 0; i < 6; ++i) {
                mean[i] += v[i] / sets[k - 1];
                error += (v[i] - x[i]) * (v[i] - x[i]) / sets[k - 1];
            }
        }
        REQUIRE(static_cast<double>(count.size()) == sets[k - 1]);
        for (std::size_t i = 0; i < 6; ++i) CHECK(mean[i] == doctest::Approx(x[i]).epsilon(1e-14));
        double const omega = 6.0 / static_cast<double>(k) - 1;
        CHECK(error == doctest::Approx(omega * laws::energy(x)).epsilon(1e-13));
        CHECK(rand_k{k}.omega(6) == doctest::Approx(omega).epsilon(1e-14));
        double chi = 0, expected = n / sets[k - 1];
        for (auto const& [set, c] : count) chi += (c - expected) * (c - expected) / expected;
        CHECK(std::abs(chi - (sets[k - 1] - 1)) < 5 * std::sqrt(2 * (sets[k - 1] - 1)));
    }
}

TEST_CASE("the variance is an equality for every vector, to 5 sigma") {
    for (auto const& x : laws::theory_vectors<double>()) {
        if (x.size() < 2) continue;
        auto const m = laws::moments_of(rand_k{0.25}, x, laws::trials, key{10});
        double const expected = rand_k{0.25}.omega(x.size()) * laws::energy(x);
        CHECK(std::abs(m.error - expected) <= 5 * std::sqrt(m.error_variance / laws::trials) + 1e-12 * laws::energy(x));
    }
}

TEST_CASE("omegas multiply: (1 + w1)(1 + w2) - 1") {
    CHECK((rand_k{10} | natural{}).omega(100) == doctest::Approx(10 * 1.125 - 1));  // (9/8)(d/k) - 1
    CHECK((rand_k{16} | quantize{1}).omega(64) == doctest::Approx(4 * 4.0 - 1));    // sqrt 16 - 1 of the chosen 16
    CHECK((rand_k{50} | rand_k{10}).omega(100) == doctest::Approx(2 * 5.0 - 1));
    CHECK((rand_k{0.5} | rand_k{0.5} | natural{}).omega(100) == doctest::Approx(2 * 2 * 1.125 - 1));
    CHECK(rand_k{1}.omega(0) == 0);
}

TEST_CASE("different keys draw different sets, and the payload's randomness is not the support's") {
    vec const x(1000, 1.0);
    auto const a = laws::compress(rand_k{10}, x, key{1}), b = laws::compress(rand_k{10}, x, key{2});
    CHECK(a.support != b.support);
    CHECK(laws::compress(rand_k{10} | natural{}, x, key{1}).support == a.support);
    CHECK(laws::compress(rand_k{500} | rand_k{10}, x, key{1}).payload.support !=
          laws::compress(rand_k{10}, vec(500, 1.0), key{1}).support);
}

TEST_CASE("parameters are checked, the rest's against k") {
    CHECK_THROWS_AS(rand_k{0}.check(5), argument_error);
    CHECK_THROWS_AS(rand_k{6}.check(5), argument_error);
    CHECK_THROWS_AS((rand_k{3} | rand_k{4}).check(5), argument_error);
    CHECK_NOTHROW((rand_k{3} | rand_k{3}).check(5));
}

TEST_CASE("a finite vector gives a message that its receiver takes, or an error here") {
    double const max = std::numeric_limits<double>::max();
    bool refused = false;
    try {
        auto const m = laws::compress(rand_k{1}, vec{max, max, max, max}, key{1});
        for (double v : m.payload.values) CHECK(std::isfinite(v));
    } catch (argument_error const&) {
        refused = true;
    }
    CHECK(refused);
}
