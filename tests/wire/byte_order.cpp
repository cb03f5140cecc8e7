// SPDX-License-Identifier: Apache-2.0
// Numbers have their lowest byte first, and come back.
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
