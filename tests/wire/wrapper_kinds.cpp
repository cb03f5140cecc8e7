// SPDX-License-Identifier: Apache-2.0
// Messages around others are these with what is said of them, to the bit, and hostile counts and levels are refused.
#include "laconic/wire/wrapper_kinds.hpp"

#include "support/bits.hpp"
#include "support/decoder.hpp"
#include "support/everything.hpp"

using by_hand::bytes_of;
using by_hand::bytes_of_values;
using by_hand::number;
using by_hand::read_into;
using by_hand::shape_of;
using by_hand::word;
using by_hand::written;

using numbers = full_vector<double, host>;
using rounded = detail::message_of<quantize>;
using choice = either<numbers, rounded>;

choice example() {
    std::vector<double> const x{1, -2, 3};
    return {true, {{4, 5}}, compress(quantize{4}, x, key{1})};
}

TEST_CASE("either is encoded, described and counted as the one that it is") {
    auto m = example();
    CHECK(written(m) == written(m.first));
    CHECK(written(m) != written(m.second));
    CHECK(shape_of(m) == shape_of(m.first));
    CHECK(bits(m) == 128);
    CHECK(bits_as_paper(m) == 128);
    m.is_first = false;
    CHECK(written(m) == written(m.second));
    CHECK(shape_of(m) == shape_of(m.second));
    CHECK(shape_of(m) != shape_of(m.first));
    CHECK(bits_as_paper(m) == bits_as_paper(m.second));
}

TEST_CASE("either is read as the one that the blank is") {
    host on;
    for (bool const is_first : {true, false}) {
        auto m = example();
        m.is_first = is_first;
        choice blank{is_first, {{0, 0}}, {}};
        quantize{4}.blank(on, 3, key{1}, blank.second);
        CHECK(read_into(blank, written(m), one_of<identity, quantize>{}) == m);
    }
}

std::vector<float> const six{1, -2, 3, -4, 0.5, 8};
parts<any_compressor<float>> const mixed{{3, scaled_sign{}}, {1, identity{}}, {2, top_k{1}}};

// A file of float numbers, without a checksum; what follows the dimension, byte by byte.
unpacked read_file(std::uint64_t dimension, std::vector<unsigned> const& bytes, reading_limits limits = {}) {
    return read_described(decoder::by_hand(0, dimension, by_hand::words_of(bytes)), limits);
}

// The mean magnitude 2 and the bits 0 1 0; the number -4; the position 1 in its code (3 bits: a raw place of one bit),
// then 8. Nothing is padded but the end.
TEST_CASE("parts are the messages one after another, to the bit") {
    auto const m = compress(mixed, six, key{1});
    CHECK(written(m) == bytes_of({number(2.0f), {0b010, 3}, number(-4.0f), {0, 3}, {1, 1}, number(8.0f)}));
    CHECK(account(m).unpadded() == 32 + 3 + 32 + 4 + 32);
    CHECK(bits_as_paper(m) == (32 + 3) + 32 + (32 + 1));
    // parts, 3 of them: 3 of signs in a bucket of 3; 1 plain; 2, fixed_count, in units of 1, 1 of them, plain.
    CHECK(shape_of(m) == bytes_of_values({34, 3, 3, 4, 3, 1, 1, 2, 17, 1, 1, 1}));
}

TEST_CASE("a reader without the compressor reads dense parts as dense, and lists coordinates where a part does") {
    auto const read = read_described(write_described(compress(mixed, six, key{1})));
    CHECK_FALSE(read.dense);
    CHECK(read.at == std::vector<std::uint64_t>{0, 1, 2, 3, 5});
    CHECK(read.values == std::vector<double>{2, -2, 2, -4, 8});
    parts<any_compressor<float>> const dense{
        {4, identity{}}, {0, identity{}}, {2, parts<any_compressor<float>>{{1, scaled_sign{}}, {1, identity{}}}}};
    auto const again = read_described(write_described(compress(dense, six, key{1})));
    CHECK(again.dense);
    CHECK(again.at.empty());
    CHECK(again.values == std::vector<double>{1, -2, 3, -4, 0.5, 8});
    // First a list, then a dense part; inside a support, and scaled by 1/2.
    CHECK(read_file(2, {34, 2, 1, 17, 1, 0, 1, 1, 1, 0, 0, 0x80, 0x3f}).at == std::vector<std::uint64_t>{1});
    auto const inside =
        read_file(3, {33, 0, 0, 0, 0x3f, 17, 1, 3, 34, 2, 2, 1, 1, 7, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0xbc});
    CHECK(inside.values == std::vector<double>{0.5, 1, -0.5});
    CHECK(inside.at == std::vector<std::uint64_t>{0, 1, 2});
    CHECK(read_file(0, {34, 0}).values.empty());
}

TEST_CASE("parts that do not make the vector are refused") {
    host on;
    detail::message_of<parts<any_compressor<float>>, float> m;
    bit_reader nothing({});
    mixed.blank(on, 7, key{1}, m);
    CHECK(m.dimension() == 7);
    CHECK_THROWS_WITH_AS(read(on, nothing, m, mixed), doctest::Contains("parts of 0 numbers in all do not make 7"),
                         wire_error);
    mixed.blank(on, 6, key{1}, m);
    m.count = 5;
    CHECK_THROWS_AS(read(on, nothing, m, mixed), wire_error);

    auto const refused = [](std::uint64_t d, std::vector<unsigned> const& bytes, char const* why) {
        CHECK_THROWS_WITH_AS(read_file(d, bytes), doctest::Contains(why), wire_error);
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
        CHECK_THROWS_WITH_AS(read_file(5, bytes, limits), doctest::Contains(why), wire_error);
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
    CHECK(read_file(0, many).values.empty());
    refused(many, "more memory than the limit", {.memory = 1 << 20});
    // Memory is spent while stages come: at most two bytes for each of them are read before the limit is found.
    for (std::uint64_t const memory : {std::uint64_t{1000}, std::uint64_t{1} << 16}) {
        std::uint64_t bit = 0;
        try {
            read_file(0, many, {.memory = memory});
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

using best_k = best_level<top_k<>>;
std::vector<float> const five{3, -4, 0, 1, 2};
best_k const by_two{top_k{1}, affine_cost(1, 64)};  // is at level 2 for those five

// What a receiver of by_two's messages about d numbers makes of some fields.
detail::message_of<best_k, float> read_by_two(std::size_t d, std::vector<word> const& fields) {
    host on;
    detail::message_of<best_k, float> m;
    by_two.blank(on, d, key{1}, m);
    return read_into(m, fields, by_two);
}

// The level less one in three bits; then, as top_k(2) writes it, a bitmap of five bits behind its code, and two
// numbers.
TEST_CASE("the level, then the message at that level, to the bit") {
    auto const m = compress(by_two, five, key{1});
    CHECK(m.level == 2);
    CHECK(m.levels == 5);
    CHECK(written(m) == bytes_of({{1, 3}, {1, 3}, {0b00011, 5}, number(3.0f), number(-4.0f)}));
    auto const books = account(m), inside = account(m.inside);
    CHECK(books.unpadded() == inside.unpadded() + 3);
    CHECK(books.values() == inside.values());
    CHECK(books.positions() == inside.positions());
    CHECK(bits_as_paper(m) == 2 * (32 + 3));
    CHECK(shape_of(m) == bytes_of_values({35, 5, 17, 1, 2, 1}));
}

TEST_CASE("a receiver who knows the length and the key reads every level") {
    for (std::size_t k = 1; k <= 5; ++k) {
        auto const inside = compress(top_k{k}, five, key{1});
        bit_writer sink;
        sink.put(k - 1, 3);
        write(sink, inside);
        host on;
        detail::message_of<best_k, float> blank;
        by_two.blank(on, 5, key{1}, blank);
        auto const m = read_into(blank, bytes_of(sink), by_two);
        CHECK(m.level == k);
        CHECK(m.inside == inside);
    }
}

TEST_CASE("one level takes no bits, and no numbers have none") {
    CHECK(account(compress(by_two, std::vector<float>{5}, key{1})).unpadded() == 32);
    CHECK(read_by_two(1, {number(5.0f)}).level == 1);
    CHECK(account(compress(by_two, std::vector<float>{}, key{1})).unpadded() == 0);
    CHECK(read_by_two(0, {}).level == 0);
    CHECK(shape_of(compress(by_two, std::vector<float>{}, key{1})) == bytes_of_values({35, 0, 17, 1, 0, 1}));
}

TEST_CASE("a level that there is not is refused, as is what ends at its level") {
    CHECK_NOTHROW(read_by_two(5, {{4, 3}, {0, 32}, {0, 32}, {0, 32}, {0, 32}, {0, 32}}));
    for (std::uint64_t const level : {6u, 7u, 8u})
        CHECK_THROWS_WITH_AS(read_by_two(5, {{level - 1, 3}, {0, 64}, {0, 64}, {0, 64}, {0, 64}}),
                             doctest::Contains("a level above the highest"), wire_error);
    CHECK_THROWS_WITH_AS(read_by_two(5, {{1, 3}}), doctest::Contains("too early"), wire_error);
    CHECK_THROWS_WITH_AS(read_by_two(5, {{1, 2}}), doctest::Contains("too early"), wire_error);
}

TEST_CASE("a reader without the compressor reads the message inside") {
    auto const read = read_described(write_described(compress(by_two, five, key{1})));
    CHECK(read.at == std::vector<std::uint64_t>{0, 1});
    CHECK(read.values == std::vector<double>{3, -4});
    auto const read_five = [](std::vector<word> const& fields) {
        return read_described(decoder::by_hand(0, 5, fields));
    };
    // Signs without a scale, at the third of five levels; at one that there is not; at none, and at the only one.
    CHECK(read_five({{35, 8}, {5, 8}, {4, 8}, {0, 8}, {2, 3}, {1, 5}}).values == std::vector<double>{-1, 1, 1, 1, 1});
    CHECK_THROWS_WITH_AS(read_five({{35, 8}, {5, 8}, {4, 8}, {0, 8}, {5, 3}, {1, 5}}),
                         doctest::Contains("a level above the highest"), wire_error);
    for (std::uint64_t const levels : {0u, 1u})
        CHECK(read_five({{35, 8}, {levels, 8}, {4, 8}, {0, 8}, {1, 5}}).values == std::vector<double>{-1, 1, 1, 1, 1});
    // Of 2^40 levels, and of more than that.
    CHECK(read_five({{35, 8}, {0x208080808080, 48}, {4, 8}, {0, 8}, {0xffffffffff, 40}, {1, 5}}).dense);
    CHECK_THROWS_AS(read_five({{35, 8}, {0x208080808081, 48}, {4, 8}, {0, 8}, {0, 41}, {1, 5}}), wire_error);
}
