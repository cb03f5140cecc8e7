// SPDX-License-Identifier: Apache-2.0
// A run of words is the same bytes as its words one by one.
#include "laconic/wire/word_run.hpp"

#include "support/bits.hpp"
#include "support/everything.hpp"

static_assert(BitSink<word_run>);

// Whatever was put before and comes after, and however wide the words are.
TEST_CASE("a run of words is the same bytes as one by one, and as many bits") {
    for (unsigned before = 0; before <= 64; ++before)
        for (std::uint64_t const n : {0, 1, 2, 3, 100}) {
            bit_writer at_once, one_by_one;
            ledger books;
            std::vector<std::uint64_t> words;
            std::vector<unsigned> widths;
            std::uint64_t bits = 0;
            key const draw = key{before}.child(n);
            for (std::uint64_t i = 0; i < n; ++i) {
                widths.push_back(static_cast<unsigned>(draw.below(2 * i, word_run::widest + 1)));
                words.push_back(draw.below(2 * i + 1, std::uint64_t{1} << widths.back()));
                bits += widths.back();
            }
            for (auto* const w : {&at_once, &one_by_one}) w->put(before > 0, before);
            books.put(0, before);
            auto const each = [&](auto& sink) {
                for (std::size_t i = 0; i < n; ++i) sink.put(words[i], widths[i]);
            };
            put_words(at_once, bits, each);
            put_words(books, bits, each);
            each(one_by_one);
            CHECK(books.unpadded() == before + bits);
            for (auto* const w : {&at_once, &one_by_one}) w->put(1, 3);
            REQUIRE(by_hand::bytes_of(at_once) == by_hand::bytes_of(one_by_one));
        }
}

TEST_CASE("a writer that is used again makes no more room") {
    bit_writer sink;
    auto const write_words = [&] {
        sink.clear();
        put_words(sink, 56 * 1000, [](word_run& words) {
            for (int i = 0; i < 1000; ++i) words.put(0x123456789abcdu, 56);
        });
        return sink.finish().data();
    };
    auto const* const first = write_words();
    CHECK(write_words() == first);
}
