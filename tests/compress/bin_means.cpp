// SPDX-License-Identifier: Apache-2.0
// bin_means sends each bin's mean: by deviation as SparseLoCo's authors do, by sign in halves of two_means' bins.
#include "laconic/compress/bin_means.hpp"

#include "laconic/compress/signs.hpp"
#include "laconic/compress/top_k.hpp"
#include "support/apart.hpp"
#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

using vec = std::vector<double>;
using sorted = std::vector<std::uint8_t>;

static_assert(Compressor<bin_means> && Compressor<bin_means, float> && Contractive<bin_means> && !Unbiased<bin_means>);

template <class T>
std::vector<T> sent(bin_means c, std::vector<T> const& x) {
    return laws::received(c, x, key{1});
}
double error_of(bin_means c, vec const& x) { return laws::moments_of(c, x, 1, key{1}).error; }

TEST_CASE("by hand: six deviations in four bins, those at the ends wider") {
    vec const x{-3.25, -2, -1.5, -.25, .5, 1, 1.75, 2.5, 4, 8};
    CHECK(laws::compress(bin_means{2}, x, key{1}).codes == sorted{1, 1, 1, 2, 2, 2, 2, 2, 3, 3});
    CHECK(sent(bin_means{2}, x) == vec{-2.25, -2.25, -2.25, 1.1, 1.1, 1.1, 1.1, 1.1, 6, 6});
    // At 0, then at -1.75 and at 17.75 / 6.
    CHECK(laws::compress(bin_means{2, 0, true}, x, key{1}).codes == sorted{0, 0, 1, 1, 2, 2, 2, 2, 3, 3});
    CHECK(sent(bin_means{2, 0, true}, x) == vec{-2.625, -2.625, -.875, -.875, 1.4375, 1.4375, 1.4375, 1.4375, 6, 6});
    // Of two values both are in the middle: nothing is left. By sign both are exact.
    CHECK(sent(bin_means{2}, vec{1, -1}) == vec{0, 0});
    CHECK(sent(bin_means{2, 0, true}, vec{1, -1}) == vec{1, -1});
    CHECK(sent(bin_means{2}, vec{5}) == vec{5});
    CHECK(sent(bin_means{3}, vec(7, -2.5)) == vec(7, -2.5));
    CHECK(sent(bin_means{2, 2}, vec{3, 3, -1, -1, 9}) == vec{3, 3, -1, -1, 9});
    CHECK(sent(bin_means{2}, vec{}).empty());
}

TEST_CASE_TEMPLATE("one bit by sign is two_means, and more bits lose less", T, float, double) {
    for (auto const& x : laws::vectors<T>()) {
        auto const one = sent(bin_means{1, 5, true}, x), two = laws::received(two_means{5}, x, key{1});
        for (std::size_t j = 0; j < x.size(); ++j)
            CHECK(std::abs(one[j] - two[j]) <= T(1e-6) * std::abs(two[j]) + std::numeric_limits<T>::denorm_min());
    }
    for (std::uint64_t n = 0; n < 20; ++n) {
        auto const noise = laws::noise<double>(97, n, static_cast<int>(n % 3));
        double last = laws::moments_of(two_means{}, noise, 1, key{1}).error * (1 + 1e-9);
        for (int bits = 2; bits <= 8; ++bits) {
            double const error = error_of({bits, 0, true}, noise);
            CHECK(error <= last);
            last = error * (1 + 1e-9);
        }
    }
}

TEST_CASE("the error is what the energy loses") {
    for (std::uint64_t n = 0; n < 20; ++n)
        for (bool const by_sign : {false, true}) {
            auto const x = laws::noise<double>(97, n, static_cast<int>(n % 3));
            bin_means const c{3, 20, by_sign};
            CHECK(error_of(c, x) ==
                  doctest::Approx(laws::energy(x) - laws::energy(sent(c, x))).epsilon(1e-9).scale(laws::energy(x)));
        }
}

TEST_CASE("delta by sign is attained by one value alone; without there is none") {
    CHECK(bin_means{2, 0, true}.delta(8) == 1. / 8);
    CHECK(bin_means{2, 4, true}.delta(9) == 0.25);
    CHECK(is_contractive(bin_means{2, 0, true}));
    CHECK(!is_contractive(bin_means{2}));
    CHECK_THROWS_AS(bin_means{2}.delta(8), theory_error);
    CHECK(error_of({2}, {1, -1}) == 2);  // all, of two numbers; of more, less
    for (std::uint64_t n = 0; n < 20; ++n)
        for (std::size_t const d : {3u, 4u, 97u}) {
            auto const x = laws::noise<double>(d, n, static_cast<int>(n % 3));
            CHECK(error_of({2}, x) < laws::energy(x));
        }
    CHECK(error_of({1, 0, true}, {0, 0, 5, 0}) == doctest::Approx(0.75 * 25));
    CHECK_THROWS_AS(bin_means{0}.check(4), argument_error);
    CHECK_THROWS_AS(bin_means{9}.check(4), argument_error);
    CHECK(to_string(bin_means{3, 5, true}) == "bin_means(3, bucket=5, by_sign=yes)");
}

TEST_CASE_TEMPLATE("numbers that the CPU cannot read are sorted alike", T, float, double) {
    auto const x = laws::noise<T>(300, 1, 1);
    for (bool const by_sign : {false, true}) {
        bin_means const c{3, 70, by_sign};
        laconic_test::apart there;
        laconic_test::apart::array<T> given(x.size());
        copy_from_host(there, std::span<T const>(x), std::span<T>(given));
        detail::message_of<bin_means, T, laconic_test::apart> m;
        c(there, std::span<T const>(given), key{1}, m);
        host on;
        detail::message_of<bin_means, T> back;
        copy_message(there, m, on, back);
        CHECK(back == laws::compress(c, x, key{1}));
    }
}

TEST_CASE("SparseLoCo's message of a million numbers takes 0.149 bits for each, 215 times less than in full") {
    std::vector<float> x(std::size_t{1} << 20);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(key{1}.uniform(i) - 0.5);
    auto const m = compress(top_k{64, 4096} | bin_means{2}, x, key{1});
    auto const all = static_cast<double>(bits(m));
    CHECK(all / static_cast<double>(x.size()) < 0.1495);
    CHECK(32 * static_cast<double>(x.size()) / all > 214.5);
    // log2 of the number of ways to choose 64 of 4096 is 64 x 7.364 bits.
    struct {
        int k;
        double entropy, above;
    } const each[] = {{64, 7.364, .17}, {32, 8.318, .22}, {8, 10.086, .46}, {4, 10.853, .71}};
    for (auto const& of : each) {
        auto const chosen = compress(top_k{of.k, 4096} | bin_means{2}, x, key{1});
        double const positions = static_cast<double>(account(chosen).positions()) / double(chosen.support.size());
        CAPTURE(of.k);
        CAPTURE(positions);
        CHECK(positions > of.entropy);
        CHECK(positions < of.entropy + of.above);
    }
}

TEST_CASE("the range of the numbers' type does not count, and what is not finite is refused") {
    for (double const scale : {1e-300, 1e300}) {
        vec x{-3.25, -2, -1.5, -.25, .5, 1, 1.75, 2.5, 4, 8};
        for (double& v : x) v *= scale;
        CHECK(laws::compress(bin_means{2}, x, key{1}).codes == sorted{1, 1, 1, 2, 2, 2, 2, 2, 3, 3});
    }
    double const inf = std::numeric_limits<double>::infinity();
    host on;
    detail::message_of<bin_means> m;
    CHECK_THROWS_WITH_AS(bin_means{2}(on, std::span<double const>(vec{1, inf}), key{1}, m),
                         "bin_means: coordinate 1 is not finite", argument_error);
}
