// SPDX-License-Identifier: Apache-2.0
#include "laconic/wire/support.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace laconic;
using coordinates = std::vector<coordinate>;

namespace {

struct said {
    std::vector<std::byte> bytes;
    std::uint64_t bits;
};

said write(std::size_t length, coordinates const& support) {
    bit_writer sink;
    bit_counter counter;
    write_support(sink, length, std::span<coordinate const>(support));
    write_support(counter, length, std::span<coordinate const>(support));
    auto const b = sink.finish();
    return {{b.begin(), b.end()}, counter.bits()};
}

coordinates read(std::size_t length, std::size_t count, std::vector<std::byte> const& bytes) {
    coordinates out(count);
    bit_reader source(bytes);
    read_support(source, length, std::span<coordinate>(out));
    source.finish();
    return out;
}

// Bytes made of words of one width, as an enemy would.
std::vector<std::byte> words(unsigned width, std::initializer_list<std::uint64_t> values) {
    bit_writer sink;
    for (auto v : values) sink.put(v, width);
    auto const b = sink.finish();
    return {b.begin(), b.end()};
}

}  // namespace

// Numbers below 16 take 4 bits each: up to four of them are listed, five are shorter as a bitmap of 16 bits; section
// 8.2 of the specification has 16 bits for d = 16, k = 4 both ways.
TEST_CASE("the shorter of list and bitmap") {
    CHECK(write(16, {1, 5}).bits == 8);
    CHECK(write(16, {1, 5, 6, 15}).bits == 16);
    CHECK(write(16, {1, 5, 6, 9, 15}).bits == 16);
    CHECK(write(100, {3, 4, 5, 6, 7, 8, 9, 10, 11, 12}).bits == 70);
    CHECK(write(1000, coordinates(10, 0)).bits == 100);
    CHECK(write(1000, coordinates(100, 0)).bits == 1000);
    CHECK(write(1, {0}).bits == 0);
    CHECK(write(5, {}).bits == 0);
    CHECK(write(0, {}).bits == 0);
    CHECK(write(4, {0, 1, 2, 3}).bytes == words(4, {15}));
    CHECK(write(8, {2, 7}).bytes == words(3, {2, 7}));
}

TEST_CASE("every set of every length up to 12 reads back, and no longer than either spelling") {
    for (std::size_t length = 0; length <= 12; ++length)
        for (unsigned set = 0; set < 1u << length; ++set) {
            coordinates support;
            for (unsigned i = 0; i < length; ++i)
                if (set >> i & 1) support.push_back(i);
            auto const m = write(length, support);
            REQUIRE(read(length, support.size(), m.bytes) == support);
            REQUIRE(m.bits <= length);
            REQUIRE(m.bits <= support.size() * width_of(length));
        }
}

TEST_CASE("bitmaps around 64 and 128") {
    for (std::size_t length : {63u, 64u, 65u, 127u, 128u, 129u, 200u}) {
        coordinates every, ends{0};
        for (std::size_t i = 0; i < length; ++i) every.push_back(static_cast<coordinate>(i));
        for (std::size_t i = length / 2; i < length; ++i) ends.push_back(static_cast<coordinate>(i));
        for (auto const& support : {every, ends}) {
            auto const m = write(length, support);
            CHECK(m.bits == length);
            CHECK(read(length, support.size(), m.bytes) == support);
        }
    }
}

TEST_CASE("the largest dimension") {
    std::size_t const d = largest_dimension;
    coordinates const support{0, 1, 4294967294u};
    CHECK(write(d, support).bits == 96);
    CHECK(read(d, 3, write(d, support).bytes) == support);
    CHECK_THROWS_WITH_AS(read(d, 1, words(32, {0xffffffff})), doctest::Contains("coordinate 4294967295 of 4294967295"),
                         wire_error);
}

TEST_CASE("lists that repeat, descend or leave the vector are refused") {
    CHECK_THROWS_WITH_AS(read(100, 2, words(7, {5, 5})), doctest::Contains("coordinate 5 does not ascend"), wire_error);
    CHECK_THROWS_WITH_AS(read(100, 2, words(7, {5, 4})), doctest::Contains("coordinate 4 does not ascend"), wire_error);
    CHECK_THROWS_WITH_AS(read(100, 1, words(7, {100})), doctest::Contains("coordinate 100 of 100"), wire_error);
    CHECK_THROWS_AS(read(100, 2, words(7, {127, 127})), wire_error);
    CHECK_THROWS_AS(read(100, 3, words(7, {5, 6})), wire_error);
    CHECK_THROWS_AS(read(100, 1, words(7, {5, 6})), wire_error);
    CHECK(read(100, 2, words(7, {0, 99})) == coordinates{0, 99});
}

TEST_CASE("bitmaps with more or fewer bits than counted are refused, in the first word and in the last") {
    CHECK_THROWS_WITH_AS(read(4, 3, words(4, {0b1111})), doctest::Contains("more than 3 bits set"), wire_error);
    CHECK_THROWS_WITH_AS(read(4, 3, words(4, {0b0011})), doctest::Contains("fewer than 3 bits set"), wire_error);
    CHECK(read(4, 3, words(4, {0b1011})) == coordinates{0, 1, 3});
    std::size_t const count = 20;  // of 70: 20 x 7 bits is longer than the bitmap
    CHECK_THROWS_AS(read(70, count, words(35, {(1ull << 30) - 1, 0})), wire_error);
    CHECK_THROWS_AS(read(70, count, words(35, {(1ull << 20) - 1, 1ull << 34})), wire_error);
    CHECK_THROWS_AS(read(70, count, words(35, {(1ull << 19) - 1, 0})), wire_error);
    CHECK(read(70, count, words(35, {(1ull << 19) - 1, 1ull << 34})).back() == 69);
    CHECK_THROWS_AS(read(70, count, words(35, {(1ull << 20) - 1})), wire_error);
}
