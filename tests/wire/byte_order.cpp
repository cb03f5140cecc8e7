// SPDX-License-Identifier: Apache-2.0
// Numbers have their lowest byte first, and come back.
// Checksums are the published ones of CRC-32C, and at any length what its polynomial leaves.
#include "laconic/wire/byte_order.hpp"

#include "support/everything.hpp"

TEST_CASE("numbers have their lowest byte first, one by one and many at once, and come back") {
    std::byte bytes[8];
    detail::store_little(bytes, std::uint32_t{0x04030201});
    detail::store_little(bytes + 4, std::int16_t{-2});
    CHECK((bytes[0] == std::byte{1} && bytes[3] == std::byte{4} && bytes[4] == std::byte{0xfe}));
    CHECK(detail::load_little<std::uint32_t>(bytes) == 0x04030201);
    CHECK(detail::load_little<std::int16_t>(bytes + 4) == -2);
    float const x[] = {1, -2};
    float y[2] = {};
    detail::store_numbers(bytes, std::span<float const>(x));
    CHECK((bytes[3] == std::byte{0x3f} && bytes[7] == std::byte{0xc0}));
    detail::load_numbers(bytes, std::span<float>(y));
    CHECK((y[0] == 1 && y[1] == -2));
}

// The check value of CRC-32C, and the examples of RFC 3720, B.4.
TEST_CASE("checksums are the published ones") {
    std::string_view const digits = "123456789";
    CHECK(checksum(std::as_bytes(std::span(digits))) == 0xe3069283u);
    CHECK(checksum(std::vector<std::byte>(32, std::byte{0})) == 0x8a9136aau);
    CHECK(checksum(std::vector<std::byte>(32, std::byte{0xff})) == 0x62a8ab43u);
    std::vector<std::byte> up, down;
    for (unsigned i = 0; i < 32; ++i)
        up.push_back(static_cast<std::byte>(i)), down.push_back(static_cast<std::byte>(31 - i));
    CHECK(checksum(up) == 0x46dd794eu);
    CHECK(checksum(down) == 0x113fdb5cu);
    CHECK(checksum({}) == 0);
}

TEST_CASE("at any length a checksum is what the polynomial leaves, bit by bit") {
    std::vector<std::byte> bytes;
    std::uint32_t left = 0xffffffffu;
    for (unsigned n = 0; n < 100; ++n) {
        CHECK(checksum(bytes) == ~left);
        auto sealed = bytes;
        for (int i = 0; i < 4; ++i) sealed.push_back(static_cast<std::byte>(~left >> (8 * i)));
        CHECK(ends_with_checksum(sealed));
        sealed[37 * n % sealed.size()] ^= std::byte{16};
        CHECK_FALSE(ends_with_checksum(sealed));
        bytes.push_back(static_cast<std::byte>(37 * n + 11));
        left ^= std::to_integer<std::uint32_t>(bytes.back());
        for (int k = 0; k < 8; ++k) left = (left & 1) != 0 ? left >> 1 ^ 0x82f63b78u : left >> 1;
    }
}
