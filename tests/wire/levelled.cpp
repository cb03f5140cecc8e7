// SPDX-License-Identifier: Apache-2.0
// A level is written before its message, to the bit, read at every level, and refused where there is none.
#include "laconic/wire/levelled.hpp"

#include "support/everything.hpp"

using namespace laconic;
using namespace laconic::messages;
using namespace laconic::wire;

namespace {

std::vector<unsigned> numbers(std::span<std::byte const> encoded) {
    std::vector<unsigned> all;
    for (auto const b : encoded) all.push_back(std::to_integer<unsigned>(b));
    return all;
}

using best_k = best_level<top_k<>>;
std::vector<float> const five{3, -4, 0, 1, 2};
best_k const by_two{top_k{1}, affine_cost(1, 64)};  // is at level 2 for those five

// What a receiver of by_two's messages about d numbers makes of some fields.
detail::message_of<best_k, float> read_by_two(std::size_t d,
                                              std::vector<std::pair<std::uint64_t, unsigned>> const& fields) {
    bit_writer sink;
    for (auto const& [value, width] : fields) sink.put(value, width);
    host on;
    detail::message_of<best_k, float> m;
    by_two.blank(on, d, key{1}, m);
    bit_reader source(sink.finish());
    read(on, source, m);
    source.finish();
    return m;
}
std::uint64_t bits_of(float v) { return std::bit_cast<std::uint32_t>(v); }

}  // namespace

// The level less one in three bits; then, as top_k(2) writes it, a bitmap of five bits behind its code, and two
// numbers.
TEST_CASE("the level, then the message at that level, to the bit") {
    auto const m = compress(by_two, five, key{1});
    CHECK(m.level == 2);
    CHECK(m.levels == 5);
    bit_writer expected, sink;
    expected.put(1, 3);
    expected.put(1, 3);
    expected.put(0b00011, 5);
    expected.put(bits_of(3), 32);
    expected.put(bits_of(-4), 32);
    write(sink, m);
    CHECK(numbers(sink.finish()) == numbers(expected.finish()));
    auto const books = account(m), inside = account(m.inside);
    CHECK(books.unpadded() == inside.unpadded() + 3);
    CHECK(books.values() == inside.values());
    CHECK(books.positions() == inside.positions());
    CHECK(bits_as_paper(m) == 2 * (32 + 3));
    bit_writer shape;
    write_shape(shape, m);
    CHECK(numbers(shape.finish()) == std::vector<unsigned>{35, 5, 17, 1, 2, 1});
}

TEST_CASE("a receiver who knows the length and the key reads every level") {
    for (std::size_t k = 1; k <= 5; ++k) {
        auto const inside = compress(top_k{k}, five, key{1});
        bit_writer sink;
        sink.put(k - 1, 3);
        write(sink, inside);
        host on;
        detail::message_of<best_k, float> m;
        by_two.blank(on, 5, key{1}, m);
        bit_reader source(sink.finish());
        read(on, source, m);
        source.finish();
        CHECK(m.level == k);
        CHECK(m.inside == inside);
    }
}

TEST_CASE("one level takes no bits, and no numbers have none") {
    CHECK(account(compress(by_two, std::vector<float>{5}, key{1})).unpadded() == 32);
    CHECK(read_by_two(1, {{bits_of(5), 32}}).level == 1);
    CHECK(account(compress(by_two, std::vector<float>{}, key{1})).unpadded() == 0);
    CHECK(read_by_two(0, {}).level == 0);
    bit_writer shape;
    write_shape(shape, compress(by_two, std::vector<float>{}, key{1}));
    CHECK(numbers(shape.finish()) == std::vector<unsigned>{35, 0, 17, 1, 0, 1});
}

TEST_CASE("a level that there is not is refused, as is what ends at its level") {
    CHECK_NOTHROW(read_by_two(5, {{4, 3}, {0, 32}, {0, 32}, {0, 32}, {0, 32}, {0, 32}}));
    for (std::uint64_t const level : {6u, 7u, 8u})
        CHECK_THROWS_WITH_AS(read_by_two(5, {{level - 1, 3}, {0, 64}, {0, 64}, {0, 64}, {0, 64}}),
                             doctest::Contains("a level above the highest"), wire_error);
    CHECK_THROWS_WITH_AS(read_by_two(5, {{1, 3}}), doctest::Contains("too early"), wire_error);
    CHECK_THROWS_WITH_AS(read_by_two(5, {{1, 2}}), doctest::Contains("too early"), wire_error);
}

namespace {

// A file of five float numbers, without a checksum: what follows the length, field by field.
unpacked read_by_hand(std::vector<std::pair<std::uint64_t, unsigned>> const& fields) {
    bit_writer sink;
    std::uint64_t bits = 0;
    for (auto const& [value, width] : fields) bits += width;
    sink.put(detail::described_magic, 32);
    sink.put(1, 8);
    sink.put(0, 8);
    put_whole(sink, 5);
    put_whole(sink, bits);
    for (auto const& [value, width] : fields) sink.put(value, width);
    return read_described(sink.finish());
}

}  // namespace

TEST_CASE("a reader without the compressor reads the message inside") {
    auto const read = read_described(write_described(compress(by_two, five, key{1})));
    CHECK(read.at == std::vector<std::uint64_t>{0, 1});
    CHECK(read.values == std::vector<double>{3, -4});
    // Signs without a scale, at the third of five levels; at one that there is not; at none, and at the only one.
    CHECK(read_by_hand({{35, 8}, {5, 8}, {4, 8}, {0, 8}, {2, 3}, {1, 5}}).values ==
          std::vector<double>{-1, 1, 1, 1, 1});
    CHECK_THROWS_WITH_AS(read_by_hand({{35, 8}, {5, 8}, {4, 8}, {0, 8}, {5, 3}, {1, 5}}),
                         doctest::Contains("a level above the highest"), wire_error);
    for (std::uint64_t const levels : {0u, 1u})
        CHECK(read_by_hand({{35, 8}, {levels, 8}, {4, 8}, {0, 8}, {1, 5}}).values ==
              std::vector<double>{-1, 1, 1, 1, 1});
    // Of 2^40 levels, and of more than that.
    CHECK(read_by_hand({{35, 8}, {0x208080808080, 48}, {4, 8}, {0, 8}, {0xffffffffff, 40}, {1, 5}}).dense);
    CHECK_THROWS_AS(read_by_hand({{35, 8}, {0x208080808081, 48}, {4, 8}, {0, 8}, {0, 41}, {1, 5}}), wire_error);
}
