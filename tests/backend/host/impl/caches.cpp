// SPDX-License-Identifier: Apache-2.0
//
// Fetching ahead changes no memory and never faults; what is written past the caches arrives, and nothing else changes.
#include "laconic/backend/host/impl/caches.hpp"

#include "support/everything.hpp"

using namespace laconic::kernels;

TEST_CASE("any address may be fetched ahead, and memory keeps its contents") {
    for (std::uintptr_t const address : {std::uintptr_t{0}, std::uintptr_t{1}, ~std::uintptr_t{0}}) {
        detail::fetch_ahead<256>(reinterpret_cast<void const*>(address));
        detail::fetch_to_write(reinterpret_cast<void const*>(address));
    }
    std::vector<std::uint64_t> memory(4096, 7);
    for (auto& m : memory) {
        detail::fetch_ahead<64>(&m);
        detail::fetch_to_write(&m);
    }
    CHECK(memory == std::vector<std::uint64_t>(4096, 7));
}

// All places in a line that bytes may begin and end at, and nothing around them is touched.
TEST_CASE("bytes copied past the caches are there") {
    std::vector<std::byte> from(700);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(2 + i % 251);
    for (std::size_t begin = 0; begin < 65; ++begin)
        for (std::size_t const n : {0, 1, 15, 63, 64, 65, 127, 128, 129, 500, 600}) {
            std::vector<std::byte> to(700, std::byte{1});
            detail::copy_past_caches<simd::arch>(std::span(from).first(n), std::span(to).subspan(begin, n));
            detail::order_past_caches<simd::arch>();
            auto const at = to.begin() + static_cast<std::ptrdiff_t>(begin), end = at + static_cast<std::ptrdiff_t>(n);
            CHECK(std::equal(at, end, from.begin()));
            CHECK(std::count(to.begin(), at, std::byte{1}) == at - to.begin());
            CHECK(std::count(end, to.end(), std::byte{1}) == to.end() - end);
        }
}

// In one call, long enough for that; in four, each is too short.
TEST_CASE("codes of a long vector are those of its pieces") {
    host on;
    std::size_t const n = detail::bytes_past_caches / sizeof(std::uint16_t) + 12345, piece = n / 4 + 1;
    std::vector<float> x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(static_cast<int>(i * 7919 % 2001) - 1000);
    std::vector<std::uint16_t> powers(n), halves(n), in_pieces(n), halves_in_pieces(n);
    auto const values = std::span<float const>(x);
    constexpr auto half = layout_of(short_format::binary16);
    round_to_powers(on, values, key{3}, 5, std::span(powers));
    round_to_short(on, values, half, std::span(halves));
    for (std::size_t first = 0; first < n; first += piece) {
        std::size_t const some = std::min(piece, n - first);
        round_to_powers(on, values.subspan(first, some), key{3}, 5 + first, std::span(in_pieces).subspan(first, some));
        round_to_short(on, values.subspan(first, some), half, std::span(halves_in_pieces).subspan(first, some));
    }
    CHECK(powers == in_pieces);
    CHECK(halves == halves_in_pieces);
}
