// SPDX-License-Identifier: Apache-2.0
// Blocks of a vector are dealt to parts evenly, each found again, and numbers are sent lowest byte first.
#include "laconic/packet/omni_blocks.hpp"

#include "support/everything.hpp"

TEST_CASE("blocks of a vector") {
    detail::omni_blocks const ten{10, 4};
    CHECK(ten.count() == 3);
    CHECK(ten.first(2) == 8);
    CHECK(ten.length(1) == 4);
    CHECK(ten.length(2) == 2);
    CHECK(ten.longest() == 4);
    std::vector<int> x{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    auto const last = ten.of(std::span(x), 2);
    CHECK(std::vector<int>(last.begin(), last.end()) == std::vector<int>{8, 9});
    CHECK(detail::omni_blocks{8, 4}.count() == 2);
    CHECK(detail::omni_blocks{0, 4}.count() == 0);
    CHECK(detail::omni_blocks{3, 1000}.count() == 1);
    CHECK(detail::omni_blocks{3, 1000}.longest() == 3);
    CHECK_THROWS_WITH_AS((detail::omni_blocks{3, 0}.check()), "blocks of 0 coordinates", argument_error);
}

TEST_CASE("each part gets one block of each row, and all are found again") {
    for (std::size_t const parts : {1, 2, 3, 5, 8, 100})
        for (std::size_t const blocks : {0, 1, 7, 8, 41, 300}) {
            detail::omni_deal const deal{blocks, parts};
            std::set<std::size_t> seen;
            for (std::size_t p = 0; p < parts; ++p)
                for (std::size_t row = 0; row < deal.rows(); ++row) {
                    auto const b = deal.block_of(p, row);
                    CHECK(deal.part_of(b) == p);
                    CHECK(deal.row_of(b) == row);
                    if (b < blocks) seen.insert(b);
                }
            CHECK(seen.size() == blocks);
        }
}

// Dealt one by one, a whole column of 8 would come to a single part.
TEST_CASE("every n-th block comes to all parts alike") {
    for (std::size_t const parts : {2, 3, 8, 16})
        for (std::size_t n : {parts, 2 * parts, 8 * parts}) {
            detail::omni_deal const deal{1000 * n, parts};
            std::vector<std::size_t> shares(parts);
            for (std::size_t b = 3; b < deal.blocks; b += n) ++shares[deal.part_of(b)];
            auto const [least, most] = std::minmax_element(shares.begin(), shares.end());
            CAPTURE(parts);
            CAPTURE(n);
            CHECK(double(*least) > 0.8 * 1000 / double(parts));
            CHECK(double(*most) < 1.2 * 1000 / double(parts));
        }
}

TEST_CASE("numbers stand with their lowest byte first") {
    std::array<float, 2> const x{1.5f, -2.0f};  // 0x3fc00000, 0xc0000000
    std::array<std::byte, 8> bytes{};
    detail::store_numbers(bytes.data(), std::span<float const>(x));
    std::array<unsigned char, 8> const encoded{0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0};
    CHECK(std::memcmp(bytes.data(), encoded.data(), 8) == 0);
    std::array<float, 2> back{};
    detail::load_numbers(bytes.data(), std::span<float>(back));
    CHECK(back == x);
}
