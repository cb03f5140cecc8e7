// SPDX-License-Identifier: Apache-2.0
// Defects that were found in other libraries of this field do not occur here.
#include <cstdlib>

#include "support/everything.hpp"
#include "support/laws/messages.hpp"
#include "support/laws/pipelines.hpp"

// BytePS shifts an int by 63 where it reads words of 64 bits, and counts the blocks of a long message in float.
TEST_CASE("words of 64 bits read back; sizes beyond 2^24 bits are exact") {
    std::vector<double> const x{-1.0, 0x1.fffffffffffffp1023, -0x0.0000000000001p-1022};
    auto const m = compress(identity{}, x, key{1});
    CHECK(laws::decoded<messages::full_vector<double, host>, double>(m) == x);
    wire::bit_writer sink;
    wire::ledger books;
    for (int i = 0; i < (1 << 24) / 64; ++i) sink.put(~std::uint64_t{0}, 64), books.put(0, 64);
    sink.put(1, 1), books.put(1, 1);
    CHECK(books.unpadded() == (1u << 24) + 1);
    CHECK(sink.finish().size() == (1u << 21) + 1);
    CHECK(books.bits() == 8 * ((1u << 21) + 1));
}

// GRACE's rand-k seeds the global generator in every call; BytePS draws with repetitions.
TEST_CASE("nobody else's random numbers are touched, and no coordinate is drawn twice") {
    std::srand(1);
    int const expected = std::rand();
    std::srand(1);
    for (auto const& text : laws::pipelines())
        compress(parse_compressor<float>(text), laws::noise<float>(30, 1), key{1});
    CHECK(std::rand() == expected);
    for (std::uint64_t t = 0; t < 200; ++t) {
        auto const m = compress(rand_k{40}, laws::noise<float>(60, t), key{t});
        CHECK(std::set<coordinate>(m.support.begin(), m.support.end()).size() == 40);
    }
}
