// SPDX-License-Identifier: Apache-2.0
// Bits of comparisons become ascending lists of coordinates or numbers, with no write beyond the margin.
#include "laconic/backend/host/impl/positions.hpp"

#include "support/everything.hpp"

using namespace laconic::detail;

TEST_CASE_TEMPLATE("which of 64 numbers are above a bound, one by one", T, float, double) {
    using limits = std::numeric_limits<T>;
    T const odd[] = {0,
                     T(-0.0),
                     limits::denorm_min(),
                     -limits::denorm_min(),
                     limits::min(),
                     1,
                     -1,
                     std::nextafter(T(1), T(2)),
                     limits::max(),
                     limits::infinity(),
                     -limits::infinity(),
                     limits::quiet_NaN(),
                     -limits::quiet_NaN()};
    std::array<T, 65> x{};
    for (std::size_t j = 0; j < x.size(); ++j) x[j] = odd[(j * 7 + j / 13) % std::size(odd)];
    for (T const bound : {T(-1), T(0), limits::denorm_min(), T(1), limits::max(), limits::infinity()}) {
        auto const bits = bits_above<simd::arch>(x.data() + 1, bound);  // not aligned
        for (std::size_t j = 0; j < 64; ++j) CHECK((bits >> j & 1) == !(std::abs(x[j + 1]) <= bound));
    }
}

TEST_CASE("words of any vector: each number once, the last filled up with zeros, and a stop") {
    for (std::size_t const d : {0u, 1u, 63u, 64u, 65u, 127u, 128u, 200u}) {
        std::vector<float> x(d, 3.0f);
        std::vector<int> seen(d);
        for_each_word(std::span<float const>(x), [&](float const* p, std::uint64_t real, std::size_t first) {
            for (std::size_t j = 0; j < 64; ++j) {
                CHECK((real >> j & 1) == (first + j < d));
                CHECK(p[j] == (first + j < d ? 3.0f : 0.0f));
                if (first + j < d) ++seen[first + j];
            }
            return true;
        });
        CHECK(seen == std::vector<int>(d, 1));
    }
    int words = 0;
    std::vector<double> const x(300);
    for_each_word(std::span<double const>(x), [&](double const*, std::uint64_t, std::size_t) { return ++words < 3; });
    CHECK(words == 3);
}

TEST_CASE("the bits of a word as a list, few and many; beyond the margin nothing is written") {
    for (std::uint64_t n = 0; n < 400; ++n) {
        auto bits = key{1}.long_word(n);
        if (n % 4 == 0) bits = 0;
        for (std::uint64_t t = 0; t < n % 8; ++t)
            bits = n % 2 != 0 ? bits & key{t}.long_word(n) : bits | key{t}.long_word(n);
        if (n == 1) bits = ~std::uint64_t{0};
        std::vector<coordinate> expected;
        for (unsigned j = 0; j < 64; ++j)
            if (bits >> j & 1) expected.push_back(1000 + j);
        std::vector<coordinate> out(64 + list_margin + 1, 7);
        auto const count = write_positions<simd::arch>(bits, 1000, out.data());
        REQUIRE(count == expected.size());
        for (std::size_t j = count + list_margin; j < out.size(); ++j) REQUIRE(out[j] == 7);
        out.resize(count);
        REQUIRE(out == expected);
    }
}

TEST_CASE_TEMPLATE("what is chosen of 64 numbers; beyond the margin nothing is written", T, float, double, coordinate) {
    std::vector<T> from(65);
    for (std::size_t j = 0; j < from.size(); ++j) from[j] = static_cast<T>(500 + 3 * j);
    for (std::uint64_t n = 0; n < 300; ++n) {
        auto bits = key{3}.long_word(n);
        if (n % 3 == 0) bits &= key{4}.long_word(n) & key{5}.long_word(n);
        if (n < 65) bits = n == 64 ? ~std::uint64_t{0} : std::uint64_t{1} << n;
        if (n == 65) bits = 0;
        std::vector<T> expected;
        for (unsigned j = 0; j < 64; ++j)
            if (bits >> j & 1) expected.push_back(from[j + 1]);
        std::vector<T> out(64 + list_margin + 1, T(7));
        auto const count = write_chosen<simd::arch>(bits, from.data() + 1, out.data());  // not aligned
        REQUIRE(count == expected.size());
        for (std::size_t j = count + list_margin; j < out.size(); ++j) REQUIRE(out[j] == 7);
        out.resize(count);
        REQUIRE(out == expected);
    }
}

TEST_CASE("all that is chosen, of more than is gathered at once") {
    std::vector<float> x(20011);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(key{2}.uniform(i));
    for (float const bound : {-1.0f, 0.01f, 0.5f, 0.99f, 2.0f}) {
        std::vector<coordinate> expected, out{9};
        for (std::size_t i = 0; i < x.size(); ++i)
            if (x[i] > bound) expected.push_back(static_cast<coordinate>(i));
        list_chosen<simd::arch>(std::span<float const>(x), out, [&](float const* p, std::uint64_t, std::size_t first) {
            CHECK(x[first] == *p);
            return bits_above<simd::arch>(p, bound);
        });
        CHECK(out == expected);
    }
}

TEST_CASE("a list without room behind it: nothing is written there, and what does not fit is left out") {
    key const random{4};
    for (std::uint64_t n = 0; n < 200; ++n) {
        auto const bits = n < 100 ? random.long_word(n) : random.long_word(n) & random.long_word(n + 1000);
        auto const set = static_cast<std::size_t>(std::popcount(bits));
        for (auto const room : {std::size_t{0}, set / 2, set, set + 1, set + list_margin}) {
            std::vector<std::size_t> out(room + 1, 1000);
            auto const written = write_list_within(room, bits, out.data(), [](std::size_t j) { return j; });
            CHECK(written == std::min(room, set));
            for (std::size_t i = 0, j = 0; j < 64 && i < written; ++j)
                if (bits >> j & 1) CHECK(out[i++] == j);
            CHECK(out[room] == 1000);
        }
    }
}
