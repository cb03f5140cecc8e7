// SPDX-License-Identifier: Apache-2.0
// Packets of SwitchML are read as written, no damage passes the checksum, and layouts that differ are found.
#include "laconic/packet/switch_packet.hpp"

#include "support/everything.hpp"

using detail::switch_error;
using detail::switch_header;
using detail::switch_kind;

TEST_CASE("the layout of nodes, parts and blocks, and what it refuses") {
    switch_layout how{.d = 1000, .workers = 4, .block = 30, .slot_count = 8, .switches = 3};
    how.check();
    CHECK(how.nodes() == 7);
    CHECK(how.node_of_switch(2) == 6);
    CHECK(how.switch_of_node(3) == no_rank);
    CHECK(how.switch_of_node(4) == 0);
    CHECK(how.switch_of_node(7) == no_rank);
    CHECK(how.blocks(0) == 12);  // 333 numbers
    CHECK(how.longest_packet() == 32 + 120);
    how.apart = false;
    CHECK(how.nodes() == 4);
    CHECK(how.switch_of_node(0) == 0);
    CHECK(how.switch_of_node(3) == no_rank);
    how.workers = 1;
    CHECK(how.blocks(0) == 0);  // its sum is its own

    auto const refused = [](switch_layout const& l) { CHECK_THROWS_AS(l.check(), argument_error); };
    refused({.d = 1, .workers = 0});
    refused({.d = 1, .workers = 65536});
    refused({.d = std::size_t{1} << 32, .workers = 2});
    refused({.d = 1, .workers = 2, .block = 0});
    refused({.d = 1, .workers = 2, .block = 4, .slot_count = 9});
    refused({.d = 1, .workers = 2, .slot_count = 0});
    refused({.d = 1, .workers = 2, .switches = 0});
    refused({.d = 1, .workers = 2, .switches = 3, .apart = false});
    CHECK_NOTHROW(switch_layout{.d = 1, .workers = 2, .switches = 3}.check());
}

TEST_CASE("a header is read as it was written, and no byte of a packet can be changed") {
    std::vector<std::byte> packet(40, std::byte{7});
    switch_header const h{switch_kind::sums, 0x123456789abcdef0u, 99, 0xfffffffeu, -149};
    h.seal(packet, true);
    auto const back = switch_header::open(packet, true);
    REQUIRE(back);
    CHECK(back->what == h.what);
    CHECK(back->digest == h.digest);
    CHECK(back->round == 99);
    CHECK(back->block == 0xfffffffeu);
    CHECK(back->exponent == -149);
    for (std::size_t i = 0; i < packet.size(); ++i)
        for (int bit = 0; bit < 8; ++bit) {
            auto damaged = packet;
            damaged[i] ^= std::byte(1 << bit);
            CHECK(!switch_header::open(damaged, true));
        }
    for (std::size_t n = 0; n < packet.size(); ++n) CHECK(!switch_header::open(std::span(packet).first(n), true));
    // Both ends know whether there is a checksum.
    CHECK(!switch_header::open(packet, false));
    h.seal(packet, false);
    CHECK(switch_header::open(packet, false));
    CHECK(!switch_header::open(packet, true));
    for (int kind : {0, 9, 255}) {
        packet[30] = std::byte(kind);
        CHECK(!switch_header::open(packet, false));
    }
}

TEST_CASE("the least error counts, in whatever order they come") {
    std::vector<std::byte> bytes(switch_error::bytes);
    switch_error const none, late{switch_error::input, 2, 5}, early{switch_error::input, 1, 900},
        other{switch_error::disagreement, 0, 3, 8, 16};
    std::vector<switch_error> const all{none, late, early, other};
    for (std::size_t first = 0; first < all.size(); ++first) {
        switch_error c;
        for (std::size_t i = 0; i < all.size(); ++i) c.add(all[(first + i) % all.size()]);
        CHECK((c <=> early) == 0);
    }
    for (auto const& c : all) {
        c.put(bytes.data());
        auto const back = switch_error::take(bytes.data());
        REQUIRE(back);
        CHECK((*back <=> c) == 0);
    }
    CHECK_NOTHROW(none.raise(4));
    CHECK_THROWS_WITH_AS(early.raise(4), "rank 1, round 4: the gradient is not finite at coordinate 900",
                         non_finite_error);
    CHECK_THROWS_WITH_AS(other.raise(4),
                         "ranks disagree: rank 0 has \"the block: 8\", its switch has \"the block: 16\"",
                         agreement_error);
    bytes[0] = std::byte{3};
    CHECK(!switch_error::take(bytes.data()));
    switch_error{switch_error::disagreement, 0, detail::switch_items.size()}.put(bytes.data());
    CHECK(!switch_error::take(bytes.data()));
}

TEST_CASE("whatever differs makes another digest, but not the round") {
    std::set<std::uint64_t> digests;
    switch_layout const how{.d = 100, .workers = 4, .block = 8, .slot_count = 4, .switches = 2};
    auto const add = [&](auto values) { return digests.insert(detail::digest_of(values)).second; };
    CHECK(add(detail::values_of<float>(how, 1)));
    CHECK(!add(detail::values_of<float>(how, 2)));
    CHECK(add(detail::values_of<double>(how, 1)));
    for (int i = 0; i < 6; ++i) {
        auto other = how;
        if (i == 0) ++other.d;
        if (i == 1) ++other.workers;
        if (i == 2) ++other.block;
        if (i == 3) ++other.slot_count;
        if (i == 4) ++other.switches;
        if (i == 5) other.apart = false;
        CHECK(add(detail::values_of<float>(other, 1)));
    }
    for (int e : {-32768, -149, 0, 128, 32767}) {
        std::byte bytes[2];
        detail::store_little(bytes, std::int16_t(e));
        CHECK(detail::load_little<std::int16_t>(bytes) == e);
    }
}
