// SPDX-License-Identifier: Apache-2.0
// Bits are written and read at every width and offset, and reading beyond the end is refused with the place.
// A ledger adds up widths by what they are spent on, and counts the padding to whole bytes as header.
#include "laconic/wire/stream.hpp"

#include "support/bits.hpp"
#include "support/everything.hpp"

static_assert(BitSink<ledger> && BitSink<bit_writer>);

std::uint64_t low_bits(std::uint64_t word, unsigned width) { return width == 64 ? word : word & ((1ull << width) - 1); }

// 5 in three bits, then 1 in two, then 0x1ff in nine: 101, then 01, then nine ones, from the lowest bit on.
TEST_CASE("bits fill bytes from the lowest on, and the last byte is padded with zeros") {
    bit_writer sink;
    sink.put(5, 3);
    sink.put(1, 2);
    sink.put(0x1ff, 9);
    CHECK(by_hand::bytes_of(sink) == by_hand::bytes_of_values({0b11101101, 0b00111111}));
    sink.clear();
    CHECK(sink.finish().empty());
    sink.put(0x0102030405060708u, 64);
    CHECK(sink.finish().front() == std::byte{8});
    CHECK(sink.finish().size() == 8);
}

TEST_CASE("a sink that gives its memory away has the bytes in it, and begins anew") {
    bit_writer sink;
    for (int again = 0; again < 2; ++again) {
        sink.put(0x1234, 13), sink.put(5, 3), sink.put(1, 1);
        auto const all = sink.finish();
        std::vector<std::byte> const copy(all.begin(), all.end());
        CHECK(copy.size() == 3);
        CHECK(sink.take() == copy);
        CHECK(sink.bits() == 0);
        CHECK(sink.finish().empty());
    }
    CHECK(bit_writer().take().empty());
}

TEST_CASE("every width at every offset, with a neighbour on each side") {
    for (unsigned offset = 0; offset <= 64; ++offset)
        for (unsigned width = 0; width <= 64; ++width)
            for (std::uint64_t const pattern :
                 {~std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{0x9234567890abcdef}}) {
                std::uint64_t const word = low_bits(pattern, width), before = low_bits(~pattern, offset);
                bit_writer sink;
                ledger counter;
                auto const put = [&](std::uint64_t w, unsigned n) {
                    sink.put(w, n);
                    counter.put(w, n);
                };
                put(before, offset);
                put(word, width);
                put(0x2d, 6);
                auto const encoded = sink.finish();
                REQUIRE(counter.unpadded() == offset + width + 6);
                REQUIRE(encoded.size() == (offset + width + 6 + 7) / 8);
                bit_reader source(encoded);
                REQUIRE(source.take(offset) == before);
                REQUIRE(source.take(width) == word);
                REQUIRE(source.take(6) == 0x2d);
                REQUIRE(source.left() == 8 * encoded.size() - offset - width - 6);
                REQUIRE_NOTHROW(source.finish());
            }
}

TEST_CASE("a long random sequence reads back") {
    key const k{1};
    bit_writer sink;
    ledger counter;
    for (int again = 0; again < 2; ++again) {  // the second time in kept memory
        sink.clear();
        for (std::uint64_t i = 0; i < 5000; ++i) {
            auto const width = static_cast<unsigned>(k.below(2 * i, 65));
            sink.put(low_bits(k.long_word(2 * i + 1), width), width);
            counter.put(0, width);
        }
    }
    auto const encoded = sink.finish();
    CHECK(encoded.size() == (counter.unpadded() / 2 + 7) / 8);
    bit_reader source(encoded);
    for (std::uint64_t i = 0; i < 5000; ++i) {
        auto const width = static_cast<unsigned>(k.below(2 * i, 65));
        REQUIRE(source.take(width) == low_bits(k.long_word(2 * i + 1), width));
    }
    CHECK_NOTHROW(source.finish());
}

TEST_CASE("reading past the end is refused with the place, and by how much") {
    auto const bytes = by_hand::bytes_of_values({0xff, 0x01});
    bit_reader source(bytes);
    CHECK(source.take(9) == 0x1ff);
    CHECK_THROWS_WITH_AS(source.take(10), "at bit 9 of a message: it ends 3 bits too early", wire_error);
    CHECK(source.take(7) == 0);  // a refused word was not taken
    CHECK_THROWS_AS(source.take(1), wire_error);
    CHECK(source.take(0) == 0);
    bit_reader nothing({});
    CHECK(nothing.take(0) == 0);
    CHECK_NOTHROW(nothing.finish());
    CHECK_THROWS_AS(nothing.take(1), wire_error);
    CHECK_THROWS_AS(nothing.take(64), wire_error);
}

TEST_CASE("what is left over, and padding that is not zero, are refused") {
    auto const bytes = by_hand::bytes_of_values({0x05, 0x10});
    bit_reader whole_byte(bytes);
    whole_byte.take(8);
    CHECK_THROWS_WITH(whole_byte.finish(), "at bit 8 of a message: 8 bits are left over");
    bit_reader more(bytes);
    more.take(3);
    CHECK_THROWS_WITH(more.finish(), "at bit 3 of a message: 13 bits are left over");
    bit_reader padded(bytes);
    padded.take(12);
    CHECK_THROWS_AS(padded.finish(), wire_error);
    bit_reader good(bytes);
    good.take(13);
    CHECK_NOTHROW(good.finish());
}

TEST_CASE("bytes of the caller's own stand between words, from a whole byte on") {
    bit_writer w;
    w.put(5, 3);
    auto const room = w.append(2);
    CHECK(room.size() == 2);
    room[0] = std::byte(0xab);
    room[1] = std::byte(0xcd);
    w.put(1, 1);
    w.append(0);
    auto const bytes = by_hand::bytes_of(w);
    CHECK(bytes == by_hand::bytes_of_values({5, 0xab, 0xcd, 1}));
    bit_reader r(bytes);
    CHECK(r.take(3) == 5);
    auto const read = r.take_bytes(2);
    CHECK(std::vector(read.begin(), read.end()) == by_hand::bytes_of_values({0xab, 0xcd}));
    CHECK(r.take(1) == 1);
    CHECK(r.take_bytes(0).empty());
    r.finish();

    bit_reader short_of(bytes);
    short_of.take(3);
    CHECK_THROWS_WITH_AS(short_of.take_bytes(4), "at bit 8 of a message: it ends 1 bytes too early", wire_error);
    bit_reader padded(bytes);
    padded.take(2);
    CHECK_THROWS_WITH_AS(padded.take_bytes(1), "at bit 8 of a message: the padding of a byte is not zero", wire_error);
}

TEST_CASE("bytes and bits of other messages, at every offset; what was written so far; and all but the end of it") {
    key const k{3};
    std::vector<std::byte> others;
    for (std::uint64_t i = 0; i < 40; ++i) others.push_back(static_cast<std::byte>(k.word(i)));
    for (unsigned offset = 0; offset <= 64; ++offset)
        for (std::uint64_t const n : {0, 1, 7, 8, 9, 63, 64, 65, 130, 200, 313, 320}) {
            bit_writer sink, one_by_one;
            for (auto* const w : {&sink, &one_by_one}) w->put(low_bits(0x9234567890abcdef, offset), offset);
            sink.put_bits(others, n);
            bit_reader source(others);
            for (std::uint64_t b = 0; b < n; ++b) one_by_one.put(source.take(1), 1);
            REQUIRE(sink.bits() == offset + n);
            auto const padded = sink.so_far();
            std::vector<std::byte> const before(padded.begin(), padded.end());
            for (auto* const w : {&sink, &one_by_one}) w->put(5, 3);
            auto const found = sink.so_far(), expected = one_by_one.so_far();
            REQUIRE(std::equal(found.begin(), found.end(), expected.begin(), expected.end()));

            bit_reader whole(found);
            std::vector<std::byte> room(std::size_t(n / 8));
            whole.take(offset);
            auto const taken = whole.take_bits(n / 8 * 8, room).first(room.size());
            REQUIRE(std::equal(taken.begin(), taken.end(), others.begin()));
            REQUIRE(whole.at() == offset + n / 8 * 8);

            sink.cut(offset + n);
            auto const cut = sink.so_far();
            REQUIRE(std::equal(cut.begin(), cut.end(), before.begin(), before.end()));
            sink.put(5, 3);
            auto const again = sink.so_far();
            REQUIRE(std::equal(again.begin(), again.end(), expected.begin(), expected.end()));
        }
}

TEST_CASE("refuse throws with the place of the reader") {
    auto const bytes = by_hand::bytes_of_values({0, 0, 0});
    bit_reader source(bytes);
    source.take(17);
    CHECK_THROWS_WITH_AS(source.refuse("why not"), "at bit 17 of a message: why not", wire_error);
}

TEST_CASE("bytes are put and taken wherever the last bit ended") {
    for (unsigned const before : {0u, 3u, 8u, 13u, 61u, 64u})
        for (std::size_t const n : {0, 1, 7, 8, 9, 40}) {
            std::vector<std::byte> bytes(n), room(n);
            for (std::size_t j = 0; j < n; ++j) bytes[j] = static_cast<std::byte>(37 * j + 5);
            bit_writer at_once, one_by_one;
            for (auto* const w : {&at_once, &one_by_one}) w->put(before > 0, before);
            at_once.put_bytes(bytes);
            for (auto const b : bytes) one_by_one.put(std::to_integer<std::uint64_t>(b), 8);
            for (auto* const w : {&at_once, &one_by_one}) w->put(5, 3);
            auto const encoded = by_hand::bytes_of(at_once);
            REQUIRE(encoded == by_hand::bytes_of(one_by_one));
            bit_reader source(encoded);
            source.take(before);
            CHECK(std::ranges::equal(source.take_bits(8 * n, room).first(n), bytes));
            CHECK(source.take(3) == 5);
        }
}

TEST_CASE("widths are added up for what they are spent on, and whole bytes are the header's") {
    ledger book(position_code::fastest);
    CHECK(book.bits() == 0);
    book.put(5, 3);  // values, unless another part is charged
    book.charge(message_part::positions);
    book.put(0, 10);
    book.add(20);
    book.charge(message_part::scalars);
    book.put(0, 64);
    book.charge(message_part::header);
    book.put(1, 2);
    CHECK(book.values() == 3);
    CHECK(book.positions() == 30);
    CHECK(book.scalars() == 64);
    CHECK(book.unpadded() == 99);
    CHECK(book.bits() == 104);
    CHECK(book.header() == 2 + 5);
    book.put(0, 5);
    CHECK(book.bits() == 104);
    CHECK(book.header() == 7);
    CHECK(book.positions_as() == position_code::fastest);
    CHECK(ledger().positions_as() == position_code::smallest);
}
