// SPDX-License-Identifier: Apache-2.0
// The ledger of a sparse message has its positions, values, scalars and header as counted by hand.
#include "laconic/wire/sparse.hpp"

#include "support/everything.hpp"

// Three of 1000: the count takes ten bits, the code three, each position ten.
TEST_CASE("the ledger of a sparse message, by hand") {
    std::vector<float> x(1000, 0.0f);
    x[1] = x[400] = x[999] = 5;
    auto const books = account(compress(threshold{1}, x, key{1}));
    CHECK(books.values() == 96);
    CHECK(books.positions() == 30);
    CHECK(books.scalars() == 0);
    CHECK(books.unpadded() == 96 + 30 + 10 + 3);
    CHECK(books.header() == 13 + 5);
    CHECK(books.bits() == books.values() + books.positions() + books.scalars() + books.header());
    auto const counted = compress(top_k{3} | scaled_sign{}, x, key{1});
    CHECK(account(counted).positions() == 30);
    CHECK(account(counted).scalars() == 32);
    CHECK(account(counted).values() == 3);
    CHECK(account(counted).unpadded() == 3 + 30 + 32 + 3);
    CHECK(bits_as_paper(counted) == 3 * 10 + 32 + 3);
    auto const agreed = compress(rand_k{3}, x, key{1});
    CHECK(bits(agreed) == 96);
    CHECK(bits_as_paper(agreed) == 96);
}

TEST_CASE("the largest of 123 numbers costs its position and no more than two bytes beside the number") {
    std::vector<float> x(123, 0.0f);
    x[77] = 1;
    CHECK(bits(compress(top_k{1}, x, key{1})) <= 32 + 16);
    CHECK(bits(compress(top_k{1}, std::vector<double>(x.begin(), x.end()), key{1})) <= 64 + 16);
}

// Blocks 1 and 3 of four, the last of which has one number: positions are blocks.
TEST_CASE("positions of a sparse message may be blocks") {
    std::vector<double> x(10, 0.0);
    x[4] = 1;
    x[9] = 2;
    auto const m = compress(zero_blocks{3}, x, key{1});
    CHECK(m.support == std::vector<coordinate>{1, 3});
    CHECK(m.payload.values == std::vector<double>{0, 1, 0, 2});
    CHECK(account(m).unpadded() == 3 + 3 + 2 * 2 + 4 * 64);
}
