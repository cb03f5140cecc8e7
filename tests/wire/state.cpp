// SPDX-License-Identifier: Apache-2.0
#include "laconic/wire/state.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

using namespace laconic;

namespace {

enum class colour : std::uint8_t { red, green };

// Something to save inside something to save.
struct inner {
    std::vector<float> numbers;
    std::int16_t small = 0;
    template <class Archive>
    void state(Archive& archive) {
        archive(numbers, small);
    }
    bool operator==(inner const&) const = default;
};
struct nothing_to_say {
    int settings = 3;  // has no state(archive)
    bool operator==(nothing_to_say const&) const = default;
};
struct outer {
    std::uint64_t round = 0;
    double value = 0;
    bool flag = false;
    colour paint = colour::red;
    std::vector<double> x, empty;
    std::array<std::uint32_t, 3> three{};
    std::string words;
    inner part;
    nothing_to_say settings;

    template <class Archive>
    void state(Archive& archive) {
        archive(round, value, flag, paint, x, empty);
        archive(three, words);
        archive(part, settings);
    }
    bool operator==(outer const&) const = default;
};

outer example() {
    return {0x0123456789abcdefu, -0.1, true, colour::green, {1, -2.5, 1e300}, {}, {1, 2, 0xffffffffu}, "a\nb",
            {{1.5f, -0.f}, -7},  {}};
}

template <class P>
std::vector<std::byte> saved(P part, std::string const& what) {
    state_writer archive(what);
    archive(part);
    return archive.finish();
}
template <class P>
void restore(P& part, std::span<std::byte const> bytes, std::string const& what) {
    state_reader archive(bytes, what);
    archive(part);
    archive.rewind();
    archive(part);
}

// Bytes with a valid checksum, whatever stands in them.
std::vector<std::byte> sealed(std::vector<std::byte> bytes) {
    auto const sum = checksum(bytes);
    for (int i = 0; i < 4; ++i) bytes.push_back(std::byte(sum >> (8 * i) & 0xff));
    return bytes;
}
std::vector<std::byte> unsealed(std::vector<std::byte> bytes) {
    bytes.resize(bytes.size() - 4);
    return bytes;
}
void put(std::vector<std::byte>& bytes, std::uint64_t n, std::size_t at) {
    for (std::size_t i = 0; i < 8; ++i) bytes.at(at + i) = std::byte(n >> (8 * i) & 0xff);
}

}  // namespace

TEST_CASE("numbers, arrays, texts and parts within parts come back as they were") {
    auto const was = example();
    outer is;
    is.empty = {9, 9};
    is.settings.settings = 5;
    restore(is, saved(was, "a run"), "a run");
    CHECK(std::signbit(is.part.numbers[1]));
    CHECK(is.settings.settings == 5);  // what has no state is left alone
    is.settings.settings = 3;
    CHECK(is == was);
}

TEST_CASE("numbers that are not finite, and the ends of their ranges") {
    for (double const v : {std::nan(""), HUGE_VAL, -HUGE_VAL, std::numeric_limits<double>::denorm_min(), -0.0}) {
        inner was{{static_cast<float>(v)}, std::numeric_limits<std::int16_t>::min()}, is;
        restore(is, saved(was, ""), "");
        CHECK(is.small == was.small);
        CHECK(std::isnan(is.numbers[0]) == std::isnan(v));
        CHECK(std::signbit(is.numbers[0]) == std::signbit(v));
        if (!std::isnan(v)) CHECK(is.numbers[0] == static_cast<float>(v));
    }
}

TEST_CASE("the bytes: a name, what it is of, each number with its low byte first, a checksum") {
    inner const part{{1.f}, 0x0203};
    std::string const expected{
        "laconic1"
        "\2\0\0\0\0\0\0\0"
        "ab"
        "\1\0\0\0\0\0\0\0"
        "\0\0\x80\x3f"
        "\3\2",
        8 + 8 + 2 + 8 + 4 + 2};
    std::vector<std::byte> bytes;
    for (char const c : expected) bytes.push_back(static_cast<std::byte>(c));
    CHECK(saved(part, "ab") == sealed(bytes));
}

TEST_CASE("every truncation and every flipped bit is refused, and nothing has changed") {
    auto const bytes = saved(example(), "a run of rank 0");
    outer const before;
    for (std::size_t n = 0; n < bytes.size(); ++n) {
        outer is;
        CHECK_THROWS_AS(restore(is, std::span(bytes).first(n), "a run of rank 0"), wire_error);
        CHECK(is == before);
    }
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
        auto damaged = bytes;
        damaged[bit / 8] ^= std::byte(1 << bit % 8);
        outer is;
        CHECK_THROWS_AS(restore(is, damaged, "a run of rank 0"), wire_error);
        CHECK(is == before);
    }
    auto longer = bytes;
    longer.push_back(std::byte{0});
    outer is;
    CHECK_THROWS_AS(restore(is, longer, "a run of rank 0"), wire_error);
}

// A checksum is no signature: what is sealed again must still be read with care.
TEST_CASE("every truncation that is sealed again is refused, and nothing has changed") {
    auto const bytes = unsealed(saved(example(), "a run"));
    outer const before;
    for (std::size_t n = 0; n < bytes.size(); ++n) {
        outer is;
        CHECK_THROWS_AS(restore(is, sealed({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n)}), "a run"),
                        wire_error);
        CHECK(is == before);
    }
    auto longer = bytes;
    longer.push_back(std::byte{0});
    outer is;
    CHECK_THROWS_WITH_AS(restore(is, sealed(longer), "a run"), doctest::Contains("more than this run remembers"),
                         wire_error);
    CHECK(is == before);
}

TEST_CASE("the state of something else is refused, with both texts") {
    inner is;
    auto const bytes = saved(inner{{1, 2}, 3}, "rank 1 of 4\n");
    CHECK_THROWS_WITH_AS(restore(is, bytes, "rank 0 of 4\n"),
                         "this is the state of another run:\nrank 1 of 4\ninstead of\nrank 0 of 4\n", shape_error);
    CHECK(is == inner{});
    std::vector<std::byte> const text(100, std::byte{'x'});
    CHECK_THROWS_WITH_AS(restore(is, text, ""), doctest::Contains("this is no saved state"), wire_error);
    CHECK_THROWS_WITH_AS(restore(is, {}, ""), doctest::Contains("this is no saved state"), wire_error);
}

TEST_CASE("a length beyond the end is refused before anything is made of that size") {
    auto const whole = unsealed(saved(inner{{1, 2}, 3}, "ab"));
    for (std::uint64_t const n :
         {std::uint64_t{3}, std::uint64_t{1} << 40, ~std::uint64_t{0}, ~std::uint64_t{0} / 4 + 2}) {
        CAPTURE(n);
        inner is;
        auto of_the_numbers = whole, of_the_text = whole;
        put(of_the_numbers, n, 8 + 8 + 2);
        CHECK_THROWS_WITH_AS(restore(is, sealed(of_the_numbers), "ab"), doctest::Contains("goes beyond its end"),
                             wire_error);
        put(of_the_text, std::max<std::uint64_t>(n, 100), 8);
        CHECK_THROWS_WITH_AS(restore(is, sealed(of_the_text), "ab"), doctest::Contains("goes beyond its end"),
                             wire_error);
        CHECK(is == inner{});
    }
}

TEST_CASE("a span is filled in where its length is the saved one, and refused where not") {
    std::vector<double> const was{1, 2, 3};
    std::vector<double> three(3), two(2);
    auto const bytes = saved(std::span(was), "");
    std::span<double> into(three), too_short(two);
    restore(into, bytes, "");
    CHECK(three == was);
    CHECK_THROWS_WITH_AS(restore(too_short, bytes, ""), doctest::Contains("another length"), wire_error);
    CHECK(two == std::vector<double>(2));
}
