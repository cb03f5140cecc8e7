// SPDX-License-Identifier: Apache-2.0
//
// Codes on a grid stay, others go up with the right frequency, up to the ends.
#include "laconic/backend/host/round.hpp"

#include "support/by_key.hpp"
#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

using namespace laconic::kernels;

template <class T>
std::vector<std::int16_t> levels_of(std::vector<T> const& x, T step, int levels, key from, std::uint64_t first = 0) {
    host on;
    std::vector<std::int16_t> codes(x.size());
    round_to_levels(on, std::span<T const>(x), step, levels, from, first, std::span(codes));
    return codes;
}
template <class T, class B = host>
std::vector<std::int16_t> halvings_of(std::vector<T> const& x, T top, int levels, key from, std::uint64_t first = 0) {
    B on;
    std::vector<std::int16_t> codes(x.size());
    round_to_halvings(on, std::span<T const>(x), top, levels, from, first, std::span(codes));
    return codes;
}
template <class T>
std::vector<std::uint16_t> powers_of(std::vector<T> const& x, key from, std::uint64_t first = 0) {
    host on;
    std::vector<std::uint16_t> codes(x.size());
    round_to_powers(on, std::span<T const>(x), from, first, std::span(codes));
    return codes;
}

// Each code is `below` or `beyond`, the latter with that probability, to 5 sigma.
template <class Code>
void go_on_with(double probability, std::vector<Code> const& codes, int below, int beyond) {
    auto const n = static_cast<double>(codes.size());
    double gone = 0;
    for (int const c : codes) {
        REQUIRE((c == below || c == beyond));
        gone += c == beyond;
    }
    CHECK(std::abs(gone - probability * n) < 5 * std::sqrt(probability * (1 - probability) * n));
}

TEST_CASE_TEMPLATE("what is on the grid stays", T, float, double) {
    std::vector<T> const x{0, T(-0.0), T(0.25), T(-0.5), T(0.75), -1, 1};
    std::vector<std::int16_t> const expected{0, 0, 1, -2, 3, -4, 4};
    for (std::uint64_t k = 0; k < 50; ++k) CHECK(levels_of(x, T(0.25), 4, key{k}) == expected);
}

TEST_CASE_TEMPLATE("what is between goes up as often as it is far", T, float, double) {
    for (double const cut : {0.5, 0.125, 0.9375})
        go_on_with(cut, levels_of(std::vector<T>(20000, static_cast<T>(-2 - cut)), T(1), 3, key{9}), -2, -3);
}

TEST_CASE("the finest grid and the largest code") {
    CHECK(levels_of<double>({1, -1}, 1.0 / 32767, 32767, key{1}) == std::vector<std::int16_t>{32767, -32767});
    // A quotient rounded above the last level is still that level.
    CHECK(levels_of<double>({std::nextafter(3.0, 4.0)}, 1.0, 3, key{1}) == std::vector<std::int16_t>{3});
    for (std::uint64_t k = 0; k < 500; ++k)  // some of them go up
        CHECK(levels_of<float>(std::vector<float>(64, std::nextafter(-32767.0f, -4e4f)), 1, 32767, key{k}) ==
              std::vector<std::int16_t>(64, -32767));
}

TEST_CASE_TEMPLATE("in pieces or at once: the same codes", T, float, double) {
    auto const x = laws::noise<T>(100, 4);
    auto const whole = levels_of(x, T(0.125), 8, key{6}, 1000);
    auto const whole_powers = powers_of(x, key{6}, 1000);
    for (std::size_t cut : {1u, 3u, 4u, 50u, 99u}) {
        std::vector<T> const a(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(cut));
        std::vector<T> const b(x.begin() + static_cast<std::ptrdiff_t>(cut), x.end());
        auto codes = levels_of(a, T(0.125), 8, key{6}, 1000);
        for (auto c : levels_of(b, T(0.125), 8, key{6}, 1000 + cut)) codes.push_back(c);
        CHECK(codes == whole);
        auto powers = powers_of(a, key{6}, 1000);
        for (auto c : powers_of(b, key{6}, 1000 + cut)) powers.push_back(c);
        CHECK(powers == whole_powers);
    }
    CHECK(levels_of(x, T(0.125), 8, key{7}, 1000) != whole);
    CHECK(powers_of(x, key{6}, 1001) != whole_powers);
}

// The exponent field of 1 is 127 in a float and 1023 in a double; the sign stands above it.
TEST_CASE("powers of two stay, zeros too, with their signs") {
    CHECK(powers_of<float>({1, -1, 2, 0.5f, 0, -0.0f, 0x1p127f, 0x1p-126f}, key{3}) ==
          std::vector<std::uint16_t>{127, 256 + 127, 128, 126, 0, 256, 254, 1});
    CHECK(powers_of<double>({1, -1, 2, 0.5, 0, -0.0, 0x1p1023, 0x1p-1022}, key{3}) ==
          std::vector<std::uint16_t>{1023, 2048 + 1023, 1024, 1022, 0, 2048, 2046, 1});
}

TEST_CASE_TEMPLATE("between two powers: up with the fraction as probability, subnormal numbers too", T, float, double) {
    T const least = std::numeric_limits<T>::min();
    int const bias = std::numeric_limits<T>::max_exponent - 1;
    struct {
        T x;
        double up;
        int below;
    } const cases[] = {{T(1.25), 0.25, bias}, {3, 0.5, bias + 1}, {least / 8, 0.125, 0}, {least * T(1.75), 0.75, 1}};
    for (auto const& c : cases) {
        CAPTURE(c.x);
        go_on_with(c.up, powers_of(std::vector<T>(20000, c.x), key{8}), c.below, c.below + 1);
    }
}

// For a value in each place of those that are rounded together, the upper halves of what is cut off and of the chance
// make all ones: then the lower halves decide, and whoever does not ask for them goes down. In the other places they
// make one more, or two less, where the lower halves change nothing. What is wanted is reckoned in whole numbers.
TEST_CASE_TEMPLATE("powers of two where the first 16 bits of a chance do not decide", T, float, double) {
    using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    constexpr int mantissa = std::numeric_limits<T>::digits - 1;
    key const from{31};
    std::vector<T> x(3 * rounded_together + 20);  // and some that are no whole group
    int went_up = 0;
    for (std::size_t place = 0; place < rounded_together; ++place) {
        std::vector<std::uint16_t> wanted(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) {
            std::uint32_t const chance = from.child(place).chance(i), window = chance >> 16;
            bool const open = i % rounded_together == place;
            auto const cut = static_cast<std::uint16_t>(0xffff - window + (open ? 0u : i % 2 == 0 ? 1u : ~1u));
            // As many as follow in a float: 7. Of these some reach what the chance's lower half lacks, and some do not.
            std::uint32_t const lower = from.child(99).child(place).word(i) >> 25;
            auto const field = static_cast<bits>(sizeof(T) == 4 ? 100 + i % 50 : 1000 + i % 50);
            auto const fraction = (bits{cut} << (mantissa - 16)) | (bits{lower} << (mantissa - 23));
            x[i] = std::bit_cast<T>(static_cast<bits>(field << mantissa | fraction));
            auto const in_chances = (std::uint64_t{cut} << 16) + (std::uint64_t{lower} << 9);
            bool const up = in_chances + chance >= std::uint64_t{1} << 32;
            went_up += up && open;
            wanted[i] = static_cast<std::uint16_t>(field + up);
        }
        CAPTURE(place);
        REQUIRE(powers_of(x, from.child(place)) == wanted);
    }
    CHECK(went_up > 50);
    CHECK(went_up < 150);
}

TEST_CASE_TEMPLATE("above the largest power of two it is rounded down, never to infinity", T, float, double) {
    auto const top = static_cast<std::uint16_t>(2 * std::numeric_limits<T>::max_exponent - 2);
    for (std::uint64_t k = 0; k < 100; ++k)
        CHECK(powers_of<T>({std::numeric_limits<T>::max()}, key{k}) == std::vector<std::uint16_t>{top});
}

// Levels 0, 0.75, 1.5, 3 and 6.
TEST_CASE_TEMPLATE("halvings of the top stay", T, float, double) {
    std::vector<T> const x{0, T(-0.0), T(0.75), T(-1.5), 3, -6, 6};
    for (std::uint64_t k = 0; k < 50; ++k)
        CHECK(halvings_of(x, T(6), 4, key{k}) == std::vector<std::int16_t>{0, 0, 1, -2, 3, -4, 4});
    CHECK(halvings_of(std::vector<T>(3, 0), T(0), 4, key{1}) == std::vector<std::int16_t>(3, 0));
    CHECK(halvings_of<T>({5, -5}, T(5), 1, key{1}) == std::vector<std::int16_t>{1, -1});
}

TEST_CASE_TEMPLATE("between two of them: up as often as it is far", T, float, double) {
    for (double const cut : {0.5, 0.1, 0.25, 0.9375}) {
        struct {
            double low, high;
            int code;
        } const intervals[] = {{0, 0.75, 0}, {0.75, 1.5, 1}, {3, 6, 3}};
        for (auto const& i : intervals) {
            std::vector<T> const x(20000, static_cast<T>(-i.low - cut * (i.high - i.low)));
            go_on_with(cut, halvings_of(x, T(6), 4, key{9}), -i.code, -i.code - 1);
        }
    }
}

// The top is four times the least normal number, so of 100 levels three are left: 98, 99 and 100.
TEST_CASE_TEMPLATE("levels below the normal numbers are left out", T, float, double) {
    T const least = std::numeric_limits<T>::min(), tiny = std::numeric_limits<T>::denorm_min();
    go_on_with(0.25, halvings_of(std::vector<T>(4000, least / 4), 4 * least, 100, key{3}), 0, 98);
    CHECK(halvings_of<T>({least, 2 * least, -4 * least}, 4 * least, 100, key{3}) ==
          std::vector<std::int16_t>{98, 99, -100});
    for (int const c : halvings_of(std::vector<T>(100, tiny), 3 * tiny, 100, key{3})) CHECK((c == 0 || c == 100));
    CHECK(halvings_of<T>({3 * tiny}, 3 * tiny, 100, key{3}) == std::vector<std::int16_t>{100});
}

TEST_CASE_TEMPLATE("halvings in pieces or at once, and as the definition has it", T, float, double) {
    T const least = std::numeric_limits<T>::min(), max = std::numeric_limits<T>::max();
    auto const noise = laws::noise<T>(300, 4, 12);
    for (int const levels : {1, 2, 3, 9, 40, 200, 1000})
        for (T const scale : {T(1), max / 8192, least, least * 64}) {
            std::vector<T> x(noise);
            T top = 0;
            for (T& v : x) {
                v *= scale;
                top = std::max(top, std::abs(v));
            }
            for (T const t : {top, top * T(1.25)}) {
                auto const whole = halvings_of(x, t, levels, key{6}, 1000);
                CHECK(whole == halvings_of<T, reference>(x, t, levels, key{6}, 1000));
                std::vector<T> const a(x.begin(), x.begin() + 101), b(x.begin() + 101, x.end());
                auto codes = halvings_of(a, t, levels, key{6}, 1000);
                for (auto c : halvings_of(b, t, levels, key{6}, 1101)) codes.push_back(c);
                CHECK(codes == whole);
            }
        }
    CHECK(halvings_of(noise, T(4096), 9, key{6}) != halvings_of(noise, T(4096), 9, key{7}));
}

TEST_CASE_TEMPLATE("signs, with the sums of the negative numbers and of the others", T, float, double) {
    host on;
    reference plain;
    auto const of = [&](std::vector<T> const& x, std::vector<std::uint64_t>& words) {
        words.assign((x.size() + 63) / 64, 7);
        return pack_signs_and_sums(on, std::span<T const>(x), std::span(words));
    };
    std::vector<std::uint64_t> words, wanted;
    auto const s = of({3, -4, 12, 0, T(-0.0), T(-0.5)}, words);
    CHECK(s.below == 4.5);
    CHECK(s.above == 15);
    CHECK(s.negative == 2);
    CHECK(words[0] == 0b100010);
    for (std::size_t d = 0; d <= 300; d += d < 140 ? 1 : 20) {
        auto x = laws::noise<T>(d, d, 9);
        std::span<T const> const v(x);
        auto const sums = of(x, words);
        CHECK(std::pair(sums.below, sums.above) == sums_by_sign(plain, v));
        CHECK(sums.negative == count_negative(plain, v));
        CHECK(sums.finite);
        wanted.resize(words.size());
        pack_signs(plain, v, std::span(wanted));
        CHECK(words == wanted);
        for (T const odd : {std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()})
            for (std::size_t const i : {d - d / 3, d / 2, d}) {
                if (i >= d) continue;
                T const kept = std::exchange(x[i], odd);
                CHECK_FALSE(of(x, words).finite);
                x[i] = kept;
            }
    }
}
