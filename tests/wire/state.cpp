// SPDX-License-Identifier: Apache-2.0
// A saved state comes back as it was, and a damaged, cut, forged or foreign one is refused and changes nothing.
#include "laconic/wire/state.hpp"

#include "support/everything.hpp"
#include "support/states.hpp"

enum class colour : std::uint8_t { red, green };

// Something to save inside something to save.
struct inner {
    std::vector<float> numbers;
    std::int16_t small = 0;
    template <class Archive>
    void state(Archive& archive) {
        archive.of_any_length(numbers);
        archive(small);
    }
    bool operator==(inner const&) const = default;
};
struct without_state {
    int settings = 3;  // has no state(archive)
    bool operator==(without_state const&) const = default;
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
    without_state settings;

    template <class Archive>
    void state(Archive& archive) {
        archive(round, value, flag, paint);
        archive.of_any_length(x, empty);
        archive(three);
        archive.of_any_length(words);
        archive(part, settings);
    }
    bool operator==(outer const&) const = default;
};

outer example() {
    return {0x0123456789abcdefu, -0.1, true, colour::green, {1, -2.5, 1e300}, {}, {1, 2, 0xffffffffu}, "a\nb",
            {{1.5f, -0.f}, -7},  {}};
}

// Three arrays whose lengths the run must know.
struct vectors {
    std::vector<double> a, b;
    std::vector<float> c;
    template <class Archive>
    void state(Archive& archive) {
        archive.vectors(a, b);
        archive.vectors(c);
    }
    bool operator==(vectors const&) const = default;
};

TEST_CASE("numbers, arrays, texts and parts within parts come back as they were") {
    auto const original = example();
    outer restored;
    restored.empty = {9, 9};
    restored.settings.settings = 5;
    restore(restored, saved(original, "a run"), "a run");
    CHECK(std::signbit(restored.part.numbers[1]));
    CHECK(restored.settings.settings == 5);  // what has no state is left alone
    restored.settings.settings = 3;
    CHECK(restored == original);
}

TEST_CASE("numbers that are not finite, and the ends of their ranges") {
    for (double const v : {std::nan(""), HUGE_VAL, -HUGE_VAL, std::numeric_limits<double>::denorm_min(), -0.0}) {
        inner original{{static_cast<float>(v)}, std::numeric_limits<std::int16_t>::min()}, restored;
        restore(restored, saved(original, ""), "");
        CHECK(restored.small == original.small);
        CHECK(std::isnan(restored.numbers[0]) == std::isnan(v));
        CHECK(std::signbit(restored.numbers[0]) == std::signbit(v));
        if (!std::isnan(v)) CHECK(restored.numbers[0] == static_cast<float>(v));
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
        outer restored;
        CHECK_THROWS_AS(restore(restored, std::span(bytes).first(n), "a run of rank 0"), wire_error);
        CHECK(restored == before);
    }
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
        auto damaged = bytes;
        damaged[bit / 8] ^= std::byte(1 << bit % 8);
        outer restored;
        CHECK_THROWS_AS(restore(restored, damaged, "a run of rank 0"), wire_error);
        CHECK(restored == before);
    }
    auto longer = bytes;
    longer.push_back(std::byte{0});
    outer restored;
    CHECK_THROWS_AS(restore(restored, longer, "a run of rank 0"), wire_error);
}

// A checksum is no signature: what is sealed again must still be read with care.
TEST_CASE("every truncation that is sealed again is refused, and nothing has changed") {
    auto const bytes = unsealed(saved(example(), "a run"));
    outer const before;
    for (std::size_t n = 0; n < bytes.size(); ++n) {
        outer restored;
        CHECK_THROWS_AS(
            restore(restored, sealed({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n)}), "a run"),
            wire_error);
        CHECK(restored == before);
    }
    auto longer = bytes;
    longer.push_back(std::byte{0});
    outer restored;
    CHECK_THROWS_WITH_AS(restore(restored, sealed(longer), "a run"), doctest::Contains("more than this run remembers"),
                         wire_error);
    CHECK(restored == before);
}

TEST_CASE("the state of something else is refused, with what differs") {
    inner restored;
    auto const bytes = saved(inner{{1, 2}, 3}, "the seed: 5\nthe step: 1\nrank 1 of 4\n");
    CHECK_THROWS_WITH_AS(restore(restored, bytes, "the seed: 5\nthe step: 10\nrank 0 of 4\n"),
                         "this is the state of another run:\nsaved: the step: 1\nsaved: rank 1 of 4\n"
                         "here: the step: 10\nhere: rank 0 of 4\n",
                         shape_error);
    CHECK_THROWS_WITH_AS(restore(restored, bytes, "the seed: 5\nthe step: 1\nthe layer: 2\nrank 1 of 4\n"),
                         "this is the state of another run:\nhere: the layer: 2\n", shape_error);
    CHECK(restored == inner{});
    std::vector<std::byte> const text(100, std::byte{'x'});
    CHECK_THROWS_WITH_AS(restore(restored, text, ""), doctest::Contains("this is no saved state"), wire_error);
    CHECK_THROWS_WITH_AS(restore(restored, {}, ""), doctest::Contains("this is no saved state"), wire_error);
}

TEST_CASE("a length beyond the end is refused before anything is made of that size") {
    auto const whole = unsealed(saved(inner{{1, 2}, 3}, "ab"));
    for (std::uint64_t const n :
         {std::uint64_t{3}, std::uint64_t{1} << 40, ~std::uint64_t{0}, ~std::uint64_t{0} / 4 + 2}) {
        CAPTURE(n);
        inner restored;
        auto of_the_numbers = whole, of_the_text = whole;
        put(of_the_numbers, n, 8 + 8 + 2);
        CHECK_THROWS_WITH_AS(restore(restored, sealed(of_the_numbers), "ab"), doctest::Contains("goes beyond its end"),
                             wire_error);
        put(of_the_text, std::max<std::uint64_t>(n, 100), 8);
        CHECK_THROWS_WITH_AS(restore(restored, sealed(of_the_text), "ab"), doctest::Contains("goes beyond its end"),
                             wire_error);
        CHECK(restored == inner{});
    }
}

TEST_CASE("vectors are empty or as long as x, all that stand together") {
    vectors const none, one{{}, {}, {1, 2, 3}}, all{{4, 5, 6}, {7, 8, 9}, {1, 2, 3}};
    vectors const refused[] = {{{4, 5, 6}, {}, {}},         {{}, {4, 5, 6}, {}},  {{4, 5, 6}, {7, 8}, {1, 2, 3}},
                               {{4, 5, 6}, {7, 8, 9}, {1}}, {{4, 5}, {7, 8}, {}}, {{}, {}, {1, 2, 3, 4}}};
    for (auto const& before : {none, one, all}) {
        for (auto const& original : {none, one, all}) {
            auto restored = before;
            restore(restored, saved(original), "a part", 3);
            CHECK(restored == original);
        }
        for (auto const& original : refused) {
            auto restored = before;
            CHECK_THROWS_WITH_AS(restore(restored, saved(original), "a part", 3), doctest::Contains("another length"),
                                 wire_error);
            CHECK(restored == before);
        }
    }
    vectors restored;
    restore(restored, saved(refused[4]));  // no length is known: together they must be alike
    CHECK(restored == refused[4]);
    CHECK_THROWS_AS(restore(restored, saved(refused[2])), wire_error);
}

// A number from 2 to 5, after another.
struct bounded {
    double first = 0;
    std::uint64_t n = 0;
    template <class Archive>
    void state(Archive& archive) {
        archive(first);
        archive.between(std::uint64_t{2}, std::uint64_t{5}, n);
    }
};

TEST_CASE("a number that is passed with its range is refused outside it, and nothing has changed") {
    for (std::uint64_t const n : {0u, 1u, 2u, 5u, 6u}) {
        bounded other{3, 4};
        if (n >= 2 && n <= 5) {
            restore_from(bounded{1, n}, other);
            CHECK(other.n == n);
        } else {
            CHECK_THROWS_AS(restore_from(bounded{1, n}, other), wire_error);
            CHECK(other.first == 3);
            CHECK(other.n == 4);
        }
    }
}

TEST_CASE("an array that has its length keeps it, and so does a span; another is refused") {
    std::vector<double> const original{1, 2, 3};
    std::vector<double> three(3), two(2);
    auto const bytes = saved(std::span(original), "");
    std::span<double> into(three), too_short(two);
    restore(into, bytes, "");
    CHECK(three == original);
    CHECK_THROWS_WITH_AS(restore(too_short, bytes, ""), doctest::Contains("another length"), wire_error);
    CHECK(two == std::vector<double>(2));
    std::vector<double> own(3), none;
    restore(own, bytes, "");
    CHECK(own == original);
    for (auto* const other : {&two, &none}) {
        auto const before = *other;
        CHECK_THROWS_WITH_AS(restore(*other, bytes, ""), doctest::Contains("another length"), wire_error);
        CHECK(*other == before);
    }
}
