// SPDX-License-Identifier: Apache-2.0
// Rice codes read back with any parameter, and the best parameter is that of the definition.
// A run of words is the same bytes as its words one by one.
#include "laconic/wire/rice.hpp"

#include "support/bits.hpp"
#include "support/everything.hpp"

TEST_CASE("numbers of every size read back with every parameter that is not absurd") {
    for (unsigned r = 0; r <= 40; ++r)
        for (unsigned width = 0; width <= 40 && width <= r + 9; ++width) {
            bit_writer sink;
            ledger books;
            std::vector<std::uint64_t> const numbers{(std::uint64_t{1} << width) - 1, std::uint64_t{1} << width >> 1,
                                                     0};
            std::uint64_t expected = 0;
            for (auto const n : numbers) {
                put_rice(sink, n, r);
                put_rice(books, n, r);
                expected += (n >> r) + 1 + r;
            }
            REQUIRE(books.unpadded() == expected);
            auto const encoded = sink.finish();
            bit_reader source(encoded);
            for (auto const n : numbers) REQUIRE(take_rice(source, n, r) == n);
            source.finish();
        }
}

TEST_CASE("a number above what may be is refused before it is read") {
    bit_writer sink;
    put_rice(sink, 1000, 2);
    auto const encoded = sink.finish();
    bit_reader source(encoded);
    CHECK_THROWS_WITH_AS(take_rice(source, 900, 2), doctest::Contains("more than 225 ones"), wire_error);
    bit_reader cut(encoded.first(10));
    CHECK_THROWS_WITH_AS(take_rice(cut, 1000, 2), doctest::Contains("ends among ones"), wire_error);
}

// The least parameter under which the numbers take fewest bits, and the bits, by the definition.
detail::rice_choice best_by_definition(std::vector<std::uint64_t> const& numbers) {
    detail::rice_choice best{0, ~std::uint64_t{0}};
    for (unsigned r = 0; r <= 40; ++r) {
        std::uint64_t bits = 0;
        for (auto const n : numbers) bits += (n >> r) + 1 + r;
        if (bits < best.bits) best = {r, bits};
    }
    return best;
}

// The three parameters that are tried hold the best of all, for geometric numbers of any mean.
TEST_CASE("the best parameter is found for geometric numbers, and is known to be the best") {
    for (double const p : {0.9, 0.5, 0.3, 0.1, 0.01, 1e-3, 1e-4, 1e-6}) {
        std::vector<std::uint64_t> numbers;
        std::uint64_t total = 0;
        for (std::uint64_t i = 0; i < 2000; ++i) {
            numbers.push_back(static_cast<std::uint64_t>(std::log(1 - key{1}.uniform(i)) / std::log(1 - p)));
            total += numbers.back();
        }
        detail::rice_sums sums(total, numbers.size());
        for (auto const n : numbers) sums.add(n);
        CAPTURE(p);
        auto const best = best_by_definition(numbers);
        CHECK(sums.best().bits == best.bits);
        CHECK(sums.best().parameter == best.parameter);
        CHECK(sums.is_best_of_all());
    }
}

// What is_best_of_all() claims is so; counts of bits find it always: few numbers, and what has nothing to do with the
// mean.
TEST_CASE("the best parameter of any numbers is found") {
    std::size_t sure = 0, unsure = 0;
    for (std::uint64_t t = 0; t < 3000; ++t) {
        key const draw = key{5}.child(t);
        std::vector<std::uint64_t> numbers(1 + draw.below(0, 1 + t % 300));
        unsigned const usual = static_cast<unsigned>(draw.below(1, 20)), rare = static_cast<unsigned>(t % 38);
        std::uint64_t total = 0;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            numbers[i] = draw.below(10 + 2 * i, std::uint64_t{1} << (draw.below(11 + 2 * i, 50) == 0 ? rare : usual));
            total += numbers[i];
        }
        CAPTURE(t);
        auto const best = best_by_definition(numbers);
        detail::rice_sums sums(total, numbers.size());
        detail::rice_counts counts(numbers.size()), together(numbers.size());
        std::array<std::uint64_t, 8> eight{};
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            sums.add(numbers[i]);
            counts.add(numbers[i]);
            eight[i % 8] = numbers[i];
            if (i % 8 == 7 || i + 1 == numbers.size()) together.add(std::exchange(eight, {}), 41);
        }
        REQUIRE(counts.best().bits == best.bits);
        REQUIRE(counts.best().parameter == best.parameter);
        REQUIRE(together.best().bits == best.bits);
        REQUIRE(together.best().parameter == best.parameter);
        sums.is_best_of_all() ? ++sure : ++unsure;
        if (!sums.is_best_of_all()) continue;
        REQUIRE(sums.best().bits == best.bits);
        REQUIRE(sums.best().parameter == best.parameter);
    }
    CHECK(sure > 500);
    CHECK(unsure > 200);
}

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
