// SPDX-License-Identifier: Apache-2.0
// Codes of fixed width are the bits of one by one, and the first wrong or missing one is refused at its place.
#include "laconic/wire/fixed_width.hpp"

#include "support/bits.hpp"
#include "support/everything.hpp"

constexpr auto any = [](auto) { return true; };

TEST_CASE("codes of every width, count and place are the bits of one by one, and are read back") {
    for (unsigned width = 1; width <= 16; ++width)
        for (std::size_t const n : {0, 1, 7, 8, 63, 64, 65, 200, 511, 512, 520, 1027})
            for (unsigned const before : {0u, 1u, 7u, 8u, 61u}) {
                std::vector<std::int32_t> codes(n), read(n);
                for (std::size_t j = 0; j < n; ++j)
                    codes[j] = static_cast<std::int32_t>(key{width}.below(j, std::uint64_t{1} << width)) - 5;
                bit_writer together, one_by_one;
                ledger books;
                for (auto* const w : {&together, &one_by_one}) w->put(before > 0, before);
                auto const word_of = [](std::int32_t c) { return static_cast<std::uint64_t>(c + 5); };
                put_codes(together, codes, width, word_of);
                put_codes(books, codes, width, word_of);
                for (auto const c : codes) one_by_one.put(word_of(c), width);
                for (auto* const w : {&together, &one_by_one}) w->put(5, 3);
                auto const encoded = by_hand::bytes_of(together);
                REQUIRE(encoded == by_hand::bytes_of(one_by_one));
                CHECK(books.unpadded() == n * width);
                bit_reader source(encoded);
                source.take(before);
                take_codes(source, read, width, any, "", [](auto word) { return int{word} - 5; });
                CHECK(read == codes);
                CHECK(source.take(3) == 5);
            }
}

TEST_CASE("the first wrong code is refused where it stands, and a message that is too short where it ends") {
    for (unsigned const width : {3u, 8u, 9u})
        for (std::size_t const at : {0, 1, 63, 64, 511, 512, 600, 1029}) {
            std::vector<std::uint16_t> codes(1030, 2), read(1030);
            codes[at] = 7;
            bit_writer sink;
            sink.put(1, 1);
            put_codes(sink, codes, width, [](auto c) { return c; });
            auto const encoded = by_hand::bytes_of(sink);
            bit_reader source(encoded);
            source.take(1);
            auto const place = "at bit " + std::to_string(1 + width * (at + 1)) + " of a message: too large";
            CHECK_THROWS_WITH_AS(
                take_codes(
                    source, read, width, [](auto word) { return word < 7; }, "too large", [](auto w) { return w; }),
                place.c_str(), wire_error);
            // As one by one: the error is that of the code that is cut, among those put together too.
            for (std::size_t const left : {std::size_t{1}, encoded.size() / 2, encoded.size() - 2}) {
                auto const most = std::span(encoded).first(left);
                bit_reader cut(most), alone(most);
                cut.take(1);
                alone.take(1);
                std::string why;
                try {
                    for (;;) alone.take(width);
                } catch (wire_error const& e) {
                    why = e.what();
                }
                CHECK_THROWS_WITH_AS(take_codes(cut, read, width, any, "", [](auto w) { return w; }), why.c_str(),
                                     wire_error);
            }
        }
}
