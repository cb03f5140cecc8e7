// SPDX-License-Identifier: Apache-2.0
// Keys give the published Philox numbers, uniform and independent, and different children for every path.
#include "laconic/core/key.hpp"

#include "support/everything.hpp"

using four = std::array<std::uint32_t, 4>;

// The known answers that Random123 publishes for philox4x32, ten rounds and seven (kat_vectors).
static_assert(detail::philox({0, 0, 0, 0}, {0, 0}) == four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(detail::philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
              four{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(detail::philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
              four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
static_assert(detail::philox({0, 0, 0, 0}, {0, 0}, 7) == four{0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48});
static_assert(detail::philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}, 7) ==
              four{0x5207ddc2, 0x45165e59, 0x4d8ee751, 0x8c52f662});
static_assert(detail::philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}, 7) ==
              four{0x4dfccaba, 0x190a87f0, 0xc47362ba, 0xb6b5242a});

TEST_CASE("philox4x32 gives the published answers when it runs, too") {
    volatile std::uint32_t zero = 0;
    CHECK(detail::philox({zero, zero, zero, zero}, {zero, zero}) ==
          four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    CHECK(detail::philox({zero, zero, zero, zero}, {zero, zero}, 7) ==
          four{0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48});
}

TEST_CASE(
    "a bit of the counter or of the key changes each bit of a block half the time, in windows' seven rounds too") {
    std::size_t const draws = 400;
    for (auto const use : {laconic::detail::for_words, laconic::detail::for_windows})
        for (std::size_t turned = 0; turned < 128; ++turned) {
            std::vector<double> changes(128);
            for (std::uint64_t n = 0; n < draws; ++n) {
                std::uint64_t const bit = std::uint64_t{1} << turned % 64, at = key{9}.long_word(n);
                auto const here = key{7}.block(use, at),
                           there = turned < 64 ? key{7}.block(use, at ^ bit) : key{7 ^ bit}.block(use, at);
                for (std::size_t i = 0; i < 128; ++i) changes[i] += (here[i / 32] ^ there[i / 32]) >> i % 32 & 1;
            }
            for (double const c : changes) CHECK(std::abs(c / draws - 0.5) < 5 * 0.5 / std::sqrt(draws));
        }
}

TEST_CASE("words, word and long_word are views of one stream, from block 2^64 - 1 too") {
    key const k{0x0123456789abcdefu};
    CHECK(k.words(5) == detail::philox({5, 0, 0, 0}, {0x89abcdef, 0x01234567}));
    CHECK(k.words(0x100000002u) == detail::philox({2, 1, 0, 0}, {0x89abcdef, 0x01234567}));
    for (std::uint64_t n : {0u, 1u, 2u, 3u, 4u, 7u, 1001u}) {
        CHECK(k.word(n) == k.words(n / 4)[n % 4]);
        CHECK(static_cast<std::uint32_t>(k.long_word(n)) == k.word(2 * n));
        CHECK(static_cast<std::uint32_t>(k.long_word(n) >> 32) == k.word(2 * n + 1));
    }
    for (std::uint64_t n : {0u, 1u, 6u, 7u, 8u, 15u, 1001u}) {
        auto const lower =
            detail::philox({static_cast<std::uint32_t>(n / 8), 0, 2, 0}, {0x89abcdef, 0x01234567})[n / 2 % 4];
        CHECK((k.chance(n) >> 16) == k.window(n));
        CHECK((k.chance(n) & 0xffff) == (n % 2 == 0 ? lower & 0xffff : lower >> 16));
    }
    CHECK(k.words(~std::uint64_t{0}) == detail::philox({0xffffffff, 0xffffffff, 0, 0}, {0x89abcdef, 0x01234567}));
}

TEST_CASE("windows: the bytes of four blocks, each the upper half of one and the lower half of another") {
    key const k{0x0123456789abcdefu};
    auto const drawn = [](std::uint64_t group, std::uint64_t block) {  // seven rounds, the purpose 3
        auto const n = 4 * group + block;
        return detail::philox({static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(n >> 32), 3, 0},
                              {0x89abcdef, 0x01234567}, 7);
    };
    for (std::uint64_t const group : {0ull, 3ull, 1ull << 50}) {
        std::array<std::uint8_t, 64> bytes;
        for (std::size_t i = 0; i < 64; ++i)
            bytes[i] = static_cast<std::uint8_t>(drawn(group, i / 16)[i / 4 % 4] >> (8 * (i % 4)));
        std::vector<int> as_lower(64), as_upper(64);
        for (std::size_t n = 0; n < 64; ++n) {
            // The first 32 begin at even bytes, the others one later, around the end of a word of four.
            std::size_t const lower = 2 * (n % 32) + n / 32, upper = lower / 4 * 4 + (lower + 1) % 4;
            CHECK(k.window(64 * group + n) == (bytes[lower] | bytes[upper] << 8));
            ++as_lower[lower];
            ++as_upper[upper];
        }
        CHECK(as_lower == std::vector<int>(64, 1));
        CHECK(as_upper == std::vector<int>(64, 1));
    }
}

// Two windows of a word share one byte, as the upper half of one and the lower half of the other, or none: by the case
// above. Here all values of the three bytes are counted.
TEST_CASE("whether windows are below two numbers has the covariance that key.hpp states") {
    auto const below = [](unsigned number) { return static_cast<double>(number) / 65536; };  // P(window < number)
    double most = 0;
    for (unsigned const f : {1u, 100u, 255u, 256u, 257u, 0x4000u, 0x7fffu, 0x8000u, 0x8080u, 0xc0ffu, 0xffffu})
        for (unsigned const g : {1u, 77u, 255u, 256u, 300u, 0x3fffu, 0x80u, 0x8000u, 0x8080u, 0x80ffu, 0xffffu}) {
            // (a, b) < f and (b, c) < g, upper bytes first.
            double both = 0;
            for (unsigned b = 0; b < 256; ++b) {
                unsigned const of_a = f / 256 + (b < f % 256);  // how many a are good
                unsigned const of_c = b < g / 256 ? 256 : b == g / 256 ? g % 256 : 0;
                both += of_a * of_c;
            }
            double const covariance = both / 0x1p24 - below(f) * below(g);
            CHECK(covariance >= 0);
            CHECK(covariance <= 0x1p-10);
            most = std::max(most, covariance);
        }
    CHECK(most > 0.9 * 0x1p-10);  // as near as that
}

TEST_CASE("windows are uniform, and those of a word hardly depend on each other") {
    std::size_t const groups = 4000;
    std::vector<double> sum(64), sum_of_products(64);
    for (std::size_t g = 0; g < groups; ++g)
        for (std::size_t n = 0; n < 64; ++n) {
            auto const here = key{9}.window(64 * g + n) < 0x8080,
                       there = key{9}.window(64 * g + (n + 32) % 64) < 0x8080;
            sum[n] += here;
            sum_of_products[n] += here && there;
        }
    double const p = 0x8080 / 65536.0, of_one = 5 * std::sqrt(p * (1 - p) / groups);
    for (std::size_t n = 0; n < 64; ++n) {
        CHECK(std::abs(sum[n] / groups - p) < of_one);
        CHECK(std::abs(sum_of_products[n] / groups - p * p) < of_one + 0x1p-10);
    }
}

TEST_CASE("children differ from each other, from their parent's words, and along every path") {
    key const seed{42};
    std::set<std::uint64_t> seen{seed.bits};
    for (std::uint64_t round = 0; round < 100; ++round) {
        seen.insert(seed.long_word(2 * round));
        seen.insert(seed.child(round).bits);
        for (std::uint64_t rank = 0; rank < 10; ++rank) seen.insert(seed.child(round).child(rank).bits);
    }
    CHECK(seen.size() == 1 + 100 * 12);
    CHECK(seed.child(3).child(5) != seed.child(5).child(3));
    CHECK(key{1}.child(0) != key{2}.child(0));
}

TEST_CASE("a turned key has another key's windows and chances, turned, and its own of all else; so have its children") {
    key const plain{5}, other{6}, turned{5, 6, 0xc000};
    for (std::uint64_t n = 0; n < 200; ++n) {
        CHECK(turned.window(n) == static_cast<std::uint16_t>(other.window(n) + 0xc000));
        CHECK(turned.chance(n) == static_cast<std::uint32_t>(other.chance(n) + 0xc0000000));
        CHECK(turned.words(n) == plain.words(n));
        CHECK(turned.uniform(n) == plain.uniform(n));
        CHECK(turned.child(n) == key{plain.child(n).bits, other.child(n).bits, 0xc000});
    }
    CHECK(plain.common == plain.bits);
    CHECK(key{5, 5, 3}.child(2) == key{plain.child(2).bits, plain.child(2).bits, 3});
}

TEST_CASE("uniform is in [0, 1) and has a uniform's mean and variance") {
    key const k{3};
    int const n = 20000;
    double mean = 0, square = 0;
    for (int i = 0; i < n; ++i) {
        double const u = k.uniform(static_cast<std::uint64_t>(i));
        REQUIRE((u >= 0 && u < 1));
        REQUIRE(std::ldexp(u, 53) == std::floor(std::ldexp(u, 53)));
        mean += u / n;
        square += u * u / n;
    }
    CHECK(std::abs(mean - 0.5) < 5 * std::sqrt(1.0 / 12 / n));
    CHECK(std::abs(square - 1.0 / 3) < 5 * std::sqrt(4.0 / 45 / n));
}

TEST_CASE("below is floor(word x bound / 2^64), whatever the bound") {
    key const k{11};
    __extension__ using wide = unsigned __int128;
    for (std::uint64_t const bound : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{0xffffffff},
                                      std::uint64_t{0x100000000}, std::uint64_t{0x123456789abcdef}, ~std::uint64_t{0}})
        for (std::uint64_t n = 0; n < 200; ++n) {
            auto const v = k.below(n, bound);
            REQUIRE(v < bound);
            REQUIRE(v == static_cast<std::uint64_t>(wide{k.long_word(n)} * bound >> 64));
        }
}

TEST_CASE("below is uniform: chi-square of 7, 16 and 1000 cells") {
    for (std::uint64_t const cells : {7u, 16u, 1000u}) {
        CAPTURE(cells);
        std::uint64_t const n = 50 * cells + 20000;
        std::vector<double> count(cells);
        for (std::uint64_t i = 0; i < n; ++i) count[key{5}.below(i, cells)] += 1;
        double const expected = static_cast<double>(n) / static_cast<double>(cells);
        double chi = 0;
        for (double const c : count) chi += (c - expected) * (c - expected) / expected;
        double const freedom = static_cast<double>(cells - 1);
        CHECK(std::abs(chi - freedom) < 5 * std::sqrt(2 * freedom));
    }
}
