// SPDX-License-Identifier: Apache-2.0
// Codes of levels are packed as by hand, five ternary ones to a byte, read back, and refused outside the grid.
#include "laconic/wire/codes.hpp"

#include "support/bits.hpp"
#include "support/everything.hpp"

using codes = std::vector<std::int16_t>;
using byte_codes = std::vector<std::int8_t>;

template <class Codes>
std::vector<std::byte> written(Codes const& c, int levels) {
    bit_writer sink;
    write_codes(sink, c, levels);
    return by_hand::bytes_of(sink);
}
std::uint64_t spent(std::size_t n, int levels) {
    ledger books;
    write_codes(books, codes(n), levels);
    return books.unpadded();
}
template <class Codes = codes>
Codes read(std::vector<std::byte> const& encoded, std::size_t n, int levels) {
    bit_reader source(encoded);
    Codes c(n);
    host on;
    read_codes(on, source, std::span(c), levels);
    source.finish();
    return c;
}

// (2, 0, 1, 1, 2) is 2 + 9 + 27 + 2 x 81 = 200; of a group of two, (0, 2) is 6, in four bits.
TEST_CASE("five ternary codes are one number below 243") {
    codes const c{1, -1, 0, 0, 1, -1, 1};
    auto const encoded = written(c, 1);
    REQUIRE(encoded.size() == 2);
    CHECK(std::to_integer<int>(encoded[0]) == 200);
    CHECK(std::to_integer<int>(encoded[1]) == 6);
    CHECK(read(encoded, 7, 1) == c);
}

TEST_CASE("what they cost: 8 bits for 5, and 2, 4, 5 or 7 for the rest") {
    std::uint64_t const rest[] = {0, 2, 4, 5, 7};
    for (std::size_t n = 0; n < 40; ++n) CHECK(spent(n, 1) == n / 5 * 8 + rest[n % 5]);
    CHECK(spent(10, 2) == 10 * 3);
    CHECK(spent(10, 3) == 10 * 3);
    CHECK(spent(10, 4) == 10 * 4);
    CHECK(spent(10, 32767) == 10 * 16);
}

TEST_CASE("all codes of all lengths are read back") {
    for (int const levels : {1, 2, 3, 7, 127, 255, 1000, 32767})
        for (std::size_t n = 0; n < 23; ++n) {
            codes c(n);
            for (std::size_t j = 0; j < n; ++j)
                c[j] = static_cast<std::int16_t>(
                    static_cast<int>(key{n}.below(j, 2 * static_cast<unsigned>(levels) + 1)) - levels);
            CHECK(read(written(c, levels), n, levels) == c);
            if (levels > 127) continue;
            byte_codes const narrow(c.begin(), c.end());
            CHECK(written(narrow, levels) == written(c, levels));
            CHECK(read<byte_codes>(written(c, levels), n, levels) == narrow);
        }
    // Every group of up to five, each by its word.
    std::uint64_t values = 1;
    for (std::size_t n = 1; n <= 5; ++n) {
        values *= 3;
        std::vector<char> seen(values, 0);
        for (std::uint64_t word = 0; word < values; ++word) {
            std::vector<std::byte> const encoded{static_cast<std::byte>(word)};
            auto const c = read(encoded, n, 1);
            CHECK(written(c, 1) == encoded);
            CHECK(written(read<byte_codes>(encoded, n, 1), 1) == encoded);
            std::uint64_t index = 0;
            for (auto const code : c) {
                REQUIRE((code >= -1 && code <= 1));
                index = 3 * index + static_cast<std::uint64_t>(code + 1);
            }
            CHECK(seen[index]++ == 0);
        }
    }
}

TEST_CASE("many ternary codes, wherever they begin, are their groups one by one") {
    for (std::size_t const n : {39, 40, 41, 1279, 1280, 1281, 2560, 3003})
        for (unsigned const before : {0u, 3u, 8u}) {
            codes c(n);
            for (std::size_t j = 0; j < n; ++j)
                c[j] = static_cast<std::int16_t>(static_cast<int>(key{n}.below(j, 3)) - 1);
            bit_writer sink, expected;
            sink.put(before > 0, before);
            expected.put(before > 0, before);
            write_codes(sink, c, 1);
            for (std::size_t first = 0; first < n; first += 5) {
                std::uint64_t word = 0, values = 1;
                for (std::size_t j = first; j < std::min(first + 5, n); ++j, values *= 3)
                    word += values * static_cast<std::uint64_t>(c[j] + 1);
                expected.put(word, detail::width_of(values));
            }
            auto const expected_bytes = by_hand::bytes_of(expected);
            CHECK(by_hand::bytes_of(sink) == expected_bytes);
            bit_reader source(expected_bytes);
            source.take(before);
            codes back(n);
            host on;
            read_codes(on, source, std::span(back), 1);
            CHECK(back == c);
            byte_codes const narrow(c.begin(), c.end());
            sink.clear();
            sink.put(before > 0, before);
            write_codes(sink, narrow, 1);
            CHECK(by_hand::bytes_of(sink) == expected_bytes);
            bit_reader again(expected_bytes);
            again.take(before);
            byte_codes narrow_back(n);
            read_codes(on, again, std::span(narrow_back), 1);
            CHECK(narrow_back == narrow);
        }
}

TEST_CASE("words that mean no codes are refused") {
    std::uint64_t const values[] = {1, 3, 9, 27, 81, 243};
    unsigned const widths[] = {0, 2, 4, 5, 7, 8};
    for (std::size_t n = 1; n <= 5; ++n)
        for (std::uint64_t word = 0; word >> widths[n] == 0; ++word) {
            std::vector<std::byte> const encoded{static_cast<std::byte>(word)};
            if (word < values[n])
                CHECK_NOTHROW(read(encoded, n, 1));
            else
                CHECK_THROWS_WITH_AS(read(encoded, n, 1), doctest::Contains("outside the grid"), wire_error);
        }
    CHECK_THROWS_AS(read({std::byte{5}}, 1, 2), wire_error);
    CHECK_THROWS_AS(read({std::byte{0}}, 6, 1), wire_error);  // too short
}
