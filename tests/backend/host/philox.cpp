// SPDX-License-Identifier: Apache-2.0
// Words and windows of a random stream that are drawn together are those that are drawn one by one.
#include "laconic/backend/host/philox.hpp"

#include "laconic/backend/host/round_at_random.hpp"

#include "support/everything.hpp"

using namespace laconic::kernels;

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

TEST_CASE("windows drawn together are those drawn one by one, of any count") {
    for (key const from : {key{}, key{3}, key{0x123456789abcdef0}, key{3, 4, 0xfffe}})
        for (std::uint64_t const first : {0ull, 64ull, 192ull, 1ull << 40, (1ull << 36) - 640})
            for (std::size_t const n : {0, 1, 31, 32, 33, 63, 64, 65, 128, 511, 512, 513, 576, 1300}) {
                random_windows<simd::arch> draws(from, first, first + n);
                bool same = true;
                for (std::size_t j = 0, some = 0; j < n; j += some) {
                    auto const windows = draws.at(first + j, n - j);
                    some = windows.size();
                    same &= some >= std::min<std::size_t>(n - j, 64);
                    for (std::size_t l = 0; l < some; ++l) same &= windows[l] == from.window(first + j + l);
                }
                CHECK(same);
            }
}
