// SPDX-License-Identifier: Apache-2.0
// Whole numbers take seven bits a byte in one form, and a bucket is not written longer than its content.
#include "laconic/wire/kind.hpp"

#include "support/bits.hpp"
#include "support/everything.hpp"

TEST_CASE("whole numbers take seven bits a byte and have one form") {
    struct {
        std::uint64_t n;
        std::size_t bytes;
    } const sizes[] = {{0, 1},         {1, 1}, {127, 1}, {128, 2}, {16383, 2}, {16384, 3}, {std::uint64_t{1} << 40, 6},
                       {~0ull >> 1, 9}};
    for (auto const& s : sizes) {
        bit_writer sink;
        put_whole(sink, s.n);
        auto const encoded = sink.finish();
        CHECK(encoded.size() == s.bytes);
        bit_reader source(encoded);
        CHECK(take_whole(source, s.n) == s.n);
        source.finish();
        if (s.n == 0) continue;
        bit_reader again(encoded);
        CHECK_THROWS_AS(take_whole(again, s.n - 1), wire_error);
    }
    auto const refused = [](std::vector<unsigned> const& values, char const* why) {
        auto const bytes = by_hand::bytes_of_values(values);
        bit_reader source(bytes);
        CHECK_THROWS_WITH_AS(take_whole(source, ~0ull), doctest::Contains(why), wire_error);
    };
    refused({128, 0}, "shortest form");
    refused({255, 128, 0}, "shortest form");
    refused({255, 255}, "too early");
    refused({255, 255, 255, 255, 255, 255, 255, 255, 255, 1}, "more than 63 bits");
}

TEST_CASE("a bucket is not longer than what is in it") {
    struct {
        std::size_t length, n, encoded;
    } const cases[] = {{3, 7, 3}, {7, 7, 7}, {100, 7, 7}, {~std::size_t{0}, 0, 1}, {1, 0, 1}, {0, 7, 0}, {0, 0, 0}};
    for (auto const& c : cases) {
        bit_writer sink;
        put_length(sink, c.length, c.n);
        bit_reader source(sink.finish());
        CHECK(take_whole(source, 1000) == c.encoded);
    }
}
