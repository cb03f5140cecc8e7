// SPDX-License-Identifier: Apache-2.0
// A packet of OmniReduce is read as it was written, and every flipped bit or missing byte is noticed.
#include "laconic/packet/omni_packet.hpp"

#include "support/everything.hpp"

using namespace laconic;

namespace {

std::vector<std::byte> example(std::size_t extra) {
    omni_packet_writer writer;
    writer.begin({0x11223344, 7, omni_kind::sums, 0x800001, 5, 6}).half(9).word(0x0102030405060708);
    std::vector<float> const x(extra, 1.f);
    writer.numbers(std::span<float const>(x));
    auto const packet = writer.finish();
    return {packet.begin(), packet.end()};
}

}  // namespace

TEST_CASE("a header is read as it was written") {
    auto const packet = example(1);
    REQUIRE(packet.size() == omni_header_bytes + 16);
    omni_header h;
    CHECK(read_header(packet, h));
    CHECK(h.digest == 0x11223344);
    CHECK(h.round == 7);
    CHECK(h.kind == omni_kind::sums);
    CHECK(h.columns == 0x800001);
    CHECK(h.slot == 5);
    CHECK(h.turn == 6);
    CHECK(detail::load_half(packet.data() + 24) == 9);
    CHECK(detail::load_word(packet.data() + 28) == 0x0102030405060708);
    CHECK(packet[24] == std::byte(9));  // the lowest byte first
}

TEST_CASE("any bit that is turned and any byte that lacks is noticed") {
    omni_header h;
    for (std::size_t const extra : {0, 1, 2, 30}) {
        auto const packet = example(extra);
        for (std::size_t bit = 0; bit < 8 * packet.size(); ++bit) {
            auto damaged = packet;
            damaged[bit / 8] ^= std::byte(1u << bit % 8);
            CHECK(!read_header(damaged, h));
        }
        for (std::size_t n = 0; n < packet.size(); ++n) CHECK(!read_header(std::span(packet).first(n), h));
    }
}

TEST_CASE("a kind that there is not is no packet") {
    omni_packet_writer writer;
    omni_header h;
    for (unsigned kind = 0; kind < 256; ++kind) {
        writer.begin({1, 2, static_cast<omni_kind>(kind), 0, 0, 0});
        CHECK(read_header(writer.finish(), h) == (kind >= 1 && kind <= 8));
    }
}
