// SPDX-License-Identifier: Apache-2.0
// EDEN's quantizer comes to known answers behind a rotation, loses of normal numbers what the papers say, and with the
// least-square scale what its delta allows; the unbiased scale is not unbiased after one rotation by hadamard.
#include "laconic/compress/centroids.hpp"

#include "laconic/compress/signs.hpp"
#include "laconic/compress/transforms.hpp"
#include "support/apart.hpp"
#include "support/everything.hpp"

using vec = std::vector<double>;
using enum centroid_scale;

static_assert(Compressor<centroids> && Compressor<centroids, float> && Contractive<centroids> && !Unbiased<centroids>);

template <class C>
vec decoded(C const& c, vec const& x, key from) {
    host on;
    vec y(x.size());
    add_message(on, std::span<double>(y), 1., compress(c, x, from));
    return y;
}
// |x - y|^2 / |x|^2
double lost(vec const& x, vec const& y) {
    double error = 0, all = 0;
    for (std::size_t j = 0; j < x.size(); ++j) error += (x[j] - y[j]) * (x[j] - y[j]), all += x[j] * x[j];
    return error / all;
}
double loss(centroids c, vec const& x) { return lost(x, decoded(c, x, key{1})); }

vec const eight{-2.5, 0.0625, 2.625, -0.3125, 2.25, -0.6875, 1.875, -1.0625};  // ((5 t mod 11) - 5) / 2 + t / 16
// The keys whose first eight signs are each of the 256.
std::vector<key> keys_of_all_signs() {
    std::vector<key> keys(256);
    std::vector<bool> found(256);
    std::size_t left = 256;
    for (std::uint64_t n = 1; left > 0; ++n) {
        std::size_t const signs = key{n}.word(0) & 255;
        if (found[signs]) continue;
        found[signs] = true, keys[signs] = key{n}, --left;
    }
    return keys;
}

TEST_CASE("EDEN comes to known answers") {
    // Signs - in places 1, 2, 5, 6.
    key const from = keys_of_all_signs()[0b01100110];
    vec const turned{-1.94454365, -1.41421356, 2.20970869,  .79549513,
                     -1.94454365, -1.94454365, -1.94454365, -.88388348};
    auto const rotated = compress(hadamard<>{8}, eight, from).inside.values;
    for (std::size_t j = 0; j < 8; ++j) CHECK(rotated[j] == doctest::Approx(turned[j]).epsilon(1e-8));
    struct known {
        int bits;
        centroid_scale how;
        double scale, first, error;
    };
    for (known const& k : {known{1, unbiased, 2.24401040752, -2.53209459459, .0949598246896},
                           {1, least_square, 2.04939976511, -2.3125, .0867244829887},
                           {1, norm, 2.14449863653, -2.41980758533, .088691006654},
                           {2, unbiased, 1.42066205126, -2.50337945532, .0359306954847},
                           {2, least_square, 1.37138715693, -2.41655109385, .034684458759},
                           {2, norm, 1.39580718275, -2.45958215172, .0349905432889},
                           {3, unbiased, 1.52534294264, -2.85750668337, .0165824361586},
                           {3, least_square, 1.50046163339, -2.81089519328, .0163119443823},
                           {3, norm, 1.51285113715, -2.83410511468, .016379012394}}) {
        CAPTURE(k.bits);
        auto const eden = hadamard<>{8} | centroids{k.bits, 8, k.how};
        auto const m = compress(eden, eight, from);
        CHECK(m.inside.scales[0] == doctest::Approx(k.scale).epsilon(1e-11));
        auto const y = decoded(eden, eight, from);
        CHECK(y[0] == doctest::Approx(k.first).epsilon(1e-11));
        CHECK(lost(eight, y) == doctest::Approx(k.error).epsilon(1e-11));
    }
}

TEST_CASE("the unbiased scale is biased, by a fifth of the vector, over all signs of one rotation") {
    for (auto const& [bits, bias] : {std::pair{1, .208420}, {2, .121026}}) {
        vec mean(8);
        for (key const from : keys_of_all_signs()) {
            auto const y = decoded(hadamard<>{8} | centroids{bits, 8, unbiased}, eight, from);
            for (std::size_t j = 0; j < 8; ++j) mean[j] += y[j] / 256;
        }
        CHECK(std::sqrt(lost(eight, mean)) == doctest::Approx(bias).epsilon(5e-6));
    }
}

TEST_CASE("each centroid is the mean of what is nearest to it") {
    auto const density = [](double x) { return std::exp(-x * x / 2) / std::sqrt(6.283185307179586); };
    auto const above = [](double x) { return std::erfc(x / std::sqrt(2)) / 2; };
    for (int bits = 1; bits <= 4; ++bits)
        for (std::size_t k = 0; k < std::size_t{1} << bits; ++k) {
            auto const c = [bits](std::size_t i) { return messages::normal_centroid(bits, i); };
            bool const last = k + 1 == std::size_t{1} << bits;
            double const from = k == 0 ? -40 : (c(k - 1) + c(k)) / 2, to = last ? 40 : (c(k) + c(k + 1)) / 2;
            double const mean = (density(from) - density(to)) / (above(from) - above(to));
            CHECK(c(k) == doctest::Approx(mean).epsilon(bits < 4 ? 5e-8 : 1e-12));
        }
}

// Pairs of normal numbers by Box and Muller.
vec normal_numbers(std::size_t d) {
    vec x(d);
    key const from{5};
    for (std::size_t j = 0; j < d; j += 2) {
        double const r = std::sqrt(-2 * std::log(1 - from.uniform(j))), angle = 6.283185307179586 * from.uniform(j + 1);
        x[j] = r * std::cos(angle), x[j + 1] = r * std::sin(angle);
    }
    return x;
}

TEST_CASE("of normal numbers, and of others once they are rotated, it loses what it must") {
    struct known {
        int bits;
        double least_square, unbiased;
    };
    auto const x = normal_numbers(1 << 20);
    auto skewed = normal_numbers(1 << 20);  // lognormal, with signs
    for (std::size_t j = 0; j < skewed.size(); ++j) skewed[j] = std::copysign(std::exp(skewed[j]), skewed[j ^ 1]);
    for (known const& k :
         {known{1, .363380, .570796}, {2, .117482, .133121}, {3, .034548, .035784}, {4, .009501, .009592}}) {
        CAPTURE(k.bits);
        CHECK(loss({k.bits}, x) == doctest::Approx(k.least_square).epsilon(1e-2).scale(0));
        CHECK(loss({k.bits, 0, unbiased}, x) == doctest::Approx(k.unbiased).epsilon(1e-2).scale(0));
        auto const rotated = [&](centroid_scale how) {
            return lost(skewed, decoded(hadamard{} | centroids{k.bits, 4096, how}, skewed, key{9}));
        };
        CHECK(rotated(least_square) == doctest::Approx(k.least_square).epsilon(.05).scale(0));
        CHECK(rotated(unbiased) == doctest::Approx(k.unbiased).epsilon(.05).scale(0));
    }
    CHECK(loss({2}, skewed) > .25);  // without a rotation
}

TEST_CASE("with the least-square scale it loses no more than delta says, and with another one no less") {
    for (int bits = 1; bits <= 4; ++bits)
        for (std::size_t const b : {1u, 2u, 3u, 7u, 40u}) {
            CHECK(centroids{bits, b}.delta(1000) == 1. / double(b));
            auto const check = [&](vec const& x) {
                double const least = loss({bits}, x);
                CHECK(least <= 1 - 1. / double(b) + 1e-14);
                CHECK(loss({bits, 0, unbiased}, x) >= least - 1e-14);
                CHECK(loss({bits, 0, norm}, x) >= least - 1e-14);
            };
            vec one(b, 0.);
            one[b / 2] = -3;
            check(one);
            if (bits == 1) CHECK(loss({bits}, one) == doctest::Approx(1 - 1. / double(b)).epsilon(1e-12));
            for (std::uint64_t n = 0; n < 200; ++n) {
                vec x(b);
                for (std::size_t j = 0; j < b; ++j)
                    x[j] = std::pow(2 * key{n}.uniform(j) - 1, double(2 * (n % 20) + 1));
                check(x);
            }
        }
}

TEST_CASE_TEMPLATE("one bit with the least-square scale is scaled_sign", T, float, double) {
    std::vector<T> x(1000), a(x.size()), b(x.size());
    for (std::size_t j = 0; j < x.size(); ++j) x[j] = static_cast<T>(key{2}.uniform(j) - .4);
    host on;
    add_message(on, std::span<T>(a), T(1), compress(centroids{1, 100}, x, key{1}));
    add_message(on, std::span<T>(b), T(1), compress(scaled_sign{100}, x, key{1}));
    double const eps = std::numeric_limits<T>::epsilon();
    for (std::size_t j = 0; j < x.size(); ++j) CHECK(double(a[j]) == doctest::Approx(double(b[j])).epsilon(8 * eps));
}

TEST_CASE("a scale for each bucket, zeros, and what is refused") {
    CHECK(account(compress(centroids{3, 100}, vec(250, 1.), key{1})).bits() == (3 * 64 + 250 * 3 + 7) / 8 * 8);
    CHECK(decoded(centroids{2, 2}, {0, -0., 3, 3}, key{1})[0] == 0);
    CHECK(decoded(centroids{2, 2}, {0, -0., 3, 3}, key{1})[3] == doctest::Approx(3));
    CHECK(decoded(centroids{4, 3}, {1e300, 2e300, -3e300, 1e-300, 0, 5e-300}, key{1})[5] > 4e-300);
    double const most = std::numeric_limits<double>::max();
    CHECK_THROWS_AS(compress(centroids{3}, vec{most, most}, key{1}), argument_error);  // of what is sent, 2.8 most
    CHECK_THROWS_AS(compress(centroids{2}, vec{1, std::nan("")}, key{1}), argument_error);
    CHECK_THROWS_AS(centroids{5}.check(1), argument_error);
    CHECK_THROWS_WITH_AS((centroids{2, 0, unbiased}.delta(5)),
                         "centroids(2, scale=unbiased) is not contractive: it is scale=least_square", theory_error);
}
