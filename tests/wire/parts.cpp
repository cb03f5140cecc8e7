// SPDX-License-Identifier: Apache-2.0
// Parts are written one after another, to the bit, read without the compressor, and hostile counts are refused.
#include "laconic/wire/parts.hpp"

#include "support/everything.hpp"

using namespace laconic;
using namespace laconic::messages;
using namespace laconic::wire;

using any = any_compressor<float>;

namespace {

std::vector<unsigned> numbers(std::span<std::byte const> encoded) {
    std::vector<unsigned> all;
    for (auto const b : encoded) all.push_back(std::to_integer<unsigned>(b));
    return all;
}

std::vector<float> const six{1, -2, 3, -4, 0.5, 8};
parts<any> const mixed{{3, scaled_sign{}}, {1, identity{}}, {2, top_k{1}}};

// A file of float numbers, without a checksum; what follows the dimension, byte by byte.
unpacked read_by_hand(std::uint64_t dimension, std::vector<unsigned> const& bytes, reading_limits limits = {}) {
    bit_writer sink;
    sink.put(detail::described_magic, 32);
    sink.put(1, 8);
    sink.put(0, 8);
    put_whole(sink, dimension);
    put_whole(sink, 8 * bytes.size());
    for (auto const b : bytes) sink.put(b, 8);
    return read_described(sink.finish(), limits);
}

}  // namespace

// The mean magnitude 2 and the bits 0 1 0; the number -4; the position 1 in its code (3 bits: a raw place of one bit),
// then 8. Nothing is padded but the end.
TEST_CASE("parts are the messages one after another, to the bit") {
    auto const m = compress(mixed, six, key{1});
    bit_writer expected, sink;
    expected.put(std::bit_cast<std::uint32_t>(2.0f), 32);
    expected.put(0b010, 3);
    expected.put(std::bit_cast<std::uint32_t>(-4.0f), 32);
    expected.put(0, 3);
    expected.put(1, 1);
    expected.put(std::bit_cast<std::uint32_t>(8.0f), 32);
    write(sink, m);
    CHECK(numbers(sink.finish()) == numbers(expected.finish()));
    CHECK(account(m).unpadded() == 32 + 3 + 32 + 4 + 32);
    CHECK(bits_as_paper(m) == (32 + 3) + 32 + (32 + 1));
    bit_writer shape;
    write_shape(shape, m);
    // parts, 3 of them: 3 of signs in a bucket of 3; 1 plain; 2, fixed_count, in units of 1, 1 of them, plain.
    CHECK(numbers(shape.finish()) == std::vector<unsigned>{34, 3, 3, 4, 3, 1, 1, 2, 17, 1, 1, 1});
}

TEST_CASE("a reader without the compressor reads dense parts as dense, and lists coordinates where a part does") {
    auto const read = read_described(write_described(compress(mixed, six, key{1})));
    CHECK_FALSE(read.dense);
    CHECK(read.at == std::vector<std::uint64_t>{0, 1, 2, 3, 5});
    CHECK(read.values == std::vector<double>{2, -2, 2, -4, 8});
    parts<any> const dense{{4, identity{}}, {0, identity{}}, {2, parts<any>{{1, scaled_sign{}}, {1, identity{}}}}};
    auto const again = read_described(write_described(compress(dense, six, key{1})));
    CHECK(again.dense);
    CHECK(again.at.empty());
    CHECK(again.values == std::vector<double>{1, -2, 3, -4, 0.5, 8});
    // First a list, then a dense part; inside a support, and scaled by 1/2.
    CHECK(read_by_hand(2, {34, 2, 1, 17, 1, 0, 1, 1, 1, 0, 0, 0x80, 0x3f}).at == std::vector<std::uint64_t>{1});
    auto const inside =
        read_by_hand(3, {33, 0, 0, 0, 0x3f, 17, 1, 3, 34, 2, 2, 1, 1, 7, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0xbc});
    CHECK(inside.values == std::vector<double>{0.5, 1, -0.5});
    CHECK(inside.at == std::vector<std::uint64_t>{0, 1, 2});
    CHECK(read_by_hand(0, {34, 0}).values.empty());
}

TEST_CASE("parts that do not make the vector are refused") {
    host on;
    detail::message_of<parts<any>, float> m;
    bit_reader nothing({});
    mixed.blank(on, 7, key{1}, m);
    CHECK(m.dimension() == 7);
    CHECK_THROWS_WITH_AS(read(on, nothing, m), doctest::Contains("parts of 0 numbers in all do not make 7"),
                         wire_error);
    mixed.blank(on, 6, key{1}, m);
    m.count = 5;
    CHECK_THROWS_AS(read(on, nothing, m), wire_error);

    auto const refused = [](std::uint64_t d, std::vector<unsigned> const& bytes, char const* why) {
        CHECK_THROWS_WITH_AS(read_by_hand(d, bytes), doctest::Contains(why), wire_error);
    };
    std::vector<unsigned> const two{34, 2, 1, 4, 0, 1, 4, 0, 3};  // two signs, less six bits of padding
    refused(2, two, "shorter than announced");
    refused(1, two, "parts of more numbers than there are");
    refused(3, two, "parts of fewer numbers than there are");
    refused(0, {34, 1, 1, 1, 0, 0, 0x80, 0x3f}, "parts of more numbers");
    refused(1, {34, 2, 1, 1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20, 1, 0, 0, 0, 0},
            "parts of more numbers");  // and one of 2^40
    refused(1, {34, 0}, "parts of fewer numbers");
}

TEST_CASE("hostile counts: nothing is made of them but what the bytes hold") {
    auto const refused = [](std::vector<unsigned> const& bytes, char const* why, reading_limits limits = {}) {
        CHECK_THROWS_WITH_AS(read_by_hand(5, bytes, limits), doctest::Contains(why), wire_error);
    };
    refused({34, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20}, "where at most 65536 may be");
    refused({34, 0x80, 0x80, 0x04, 0, 1, 0, 1}, "too early");  // 65536 parts
    // 32 inside each other, then one more.
    std::vector<unsigned> deep;
    for (int n = 0; n < 31; ++n) deep.insert(deep.end(), {34, 1, 5});
    auto deeper = deep;
    deep.insert(deep.end(), {4, 0, 3});
    refused(deep, "shorter than announced");
    deeper.insert(deeper.end(), {34, 1, 5, 4, 0, 3});
    refused(deeper, "more than 32 stages in each other");
    // Many empty parts: refused above the limit of stages, and above that of memory.
    std::vector<unsigned> many{34, 0xff, 0xff, 0x03};
    for (int n = 0; n < 65535; ++n) many.insert(many.end(), {0, 3});
    CHECK(read_by_hand(0, many).values.empty());
    refused(many, "more memory than the limit", {.memory = 1 << 20});
    // Memory is spent while stages come: at most two bytes for each of them are read before the limit is found.
    for (std::uint64_t const memory : {std::uint64_t{1000}, std::uint64_t{1} << 16}) {
        std::uint64_t bit = 0;
        try {
            read_by_hand(0, many, {.memory = memory});
        } catch (wire_error const& e) {
            bit = e.bit;
        }
        CHECK(bit > 0);
        CHECK(bit < 8 * (100 + 2 * (deepest_stage + memory / sizeof(stage))));
    }
    many[1] = 0x80, many[2] = 0x80, many[3] = 0x04;
    many.insert(many.end(), {0, 3});
    refused(many, "more than 65536 stages");
}
