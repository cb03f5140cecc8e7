// SPDX-License-Identifier: Apache-2.0
// Lanes are squeezed to words of every width and spread again; by the definition, words are code + offset.
#include "laconic/backend/code_words.hpp"

#include "support/everything.hpp"

template <class Lane>
void lanes_go_there_and_back() {
    constexpr unsigned lane = 8 * sizeof(Lane), lanes = 64 / lane;
    for (unsigned width = 1; width <= lane; ++width)
        for (std::uint64_t n = 0; n < 20; ++n) {
            std::uint64_t apart = 0, together = 0;
            for (unsigned j = 0; j < lanes; ++j) {
                auto const word = key{n}.below(j, std::uint64_t{1} << width);
                apart |= word << (j * lane);
                together |= word << (j * width);
            }
            laconic::detail::lane_squeezer<Lane> const by(width);
            CHECK(by.squeezed(apart) == together);
            CHECK(by.spread(together) == apart);
        }
}

TEST_CASE("lanes go there and back") {
    lanes_go_there_and_back<std::uint8_t>();
    lanes_go_there_and_back<std::uint16_t>();
}

// 0b101, 0b011 and 0b110 from the lowest bit on: 0b10'011'101 and 0b1.
TEST_CASE("words from the lowest bit on, less the offset; those beyond the most are wrong") {
    std::vector<std::byte> const bytes{std::byte{0b10'011'101}, std::byte{0b1111'0001}};
    auto const unpacked = [&](kernels::code_words words) {
        std::vector<std::uint8_t> codes(3);
        bool const right =
            laconic::detail::unpack_one_by_one(std::span<std::byte const>(bytes), words, std::span(codes));
        return std::pair(right, codes);
    };
    using eights = std::vector<std::uint8_t>;
    CHECK(unpacked({3}) == std::pair(true, eights{5, 3, 6}));
    CHECK(unpacked({3, 4}) == std::pair(true, eights{1, 255, 2}));
    CHECK(unpacked({3, 0, 7, 5}) == std::pair(false, eights{5, 3, 6}));
    CHECK(unpacked({3, 0, 3, 3}) == std::pair(true, eights{5, 3, 6}));
    CHECK(unpacked({3, 0, 3, 2}) == std::pair(false, eights{5, 3, 6}));
}

TEST_CASE("words are packed from the lowest bit on, plus the offset, and padded with zeros") {
    using eights = std::vector<std::uint8_t>;
    auto const packed = [&](eights const& codes, kernels::code_words words) {
        std::vector<std::byte> bytes(2, std::byte{0xff});
        bool const right =
            laconic::detail::pack_one_by_one(std::span<std::uint8_t const>(codes), words, std::span<std::byte>(bytes));
        return std::pair(right, bytes);
    };
    std::vector<std::byte> const bytes{std::byte{0b10'011'101}, std::byte{0b0000'0001}};
    CHECK(packed({5, 3, 6}, {3}) == std::pair(true, bytes));
    CHECK(packed({1, 255, 2}, {3, 4}) == std::pair(true, bytes));
    CHECK(packed({5, 3, 6}, {3, 0, 7, 5}) == std::pair(false, bytes));
    CHECK(packed({5, 3, 6}, {3, 0, 3, 3}) == std::pair(true, bytes));
    CHECK(packed({5, 3, 6}, {3, 0, 3, 2}) == std::pair(false, bytes));
}
