// SPDX-License-Identifier: Apache-2.0
#include "laconic/backend/host/philox.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

using namespace laconic;

// Every count of blocks that some group of vectors takes, with no memory aligned, and where the counter's lower half
// overflows.
TEST_CASE("words drawn together are those drawn one by one") {
    host on;
    for (std::uint64_t const block : {0ull, 1ull, 5ull, 0xfffffff0ull, 0xffffffffull, (5ull << 32) - 7, 7ull << 32})
        for (std::size_t blocks = 0; blocks <= 72; ++blocks)
            for (key const from : {key{}, key{0x123456789abcdef0}, key{~0ull}}) {
                std::vector<std::uint32_t> words(4 * blocks + 2, 77);
                draw_words(on, from, block, std::span(words).subspan(1, 4 * blocks));
                CHECK(words.front() == 77);
                CHECK(words.back() == 77);
                bool same = true;
                for (std::size_t j = 0; j < 4 * blocks; ++j) same &= words[j + 1] == from.word(4 * block + j);
                CHECK(same);
            }
}

TEST_CASE("halves of words, of any count") {
    key const from{3};
    for (std::uint64_t const first : {0ull, 8ull, 1ull << 40})
        for (std::size_t const n : {0, 1, 7, 8, 9, 511, 512, 513, 1300}) {
            std::vector<std::uint16_t> halves(n + 1, 77);
            random_words<simd::arch>(from).draw(first, std::span(halves).first(n));
            CHECK(halves.back() == 77);
            bool same = true;
            for (std::size_t j = 0; j < n; ++j) same &= halves[j] == from.half(first + j);
            CHECK(same);
        }
}
