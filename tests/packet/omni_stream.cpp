// SPDX-License-Identifier: Apache-2.0
// An `omni_stream` lays out nodes, slots and columns, has a digest of its own, and refuses what cannot be.
// A packet of OmniReduce is read as it was written, and every flipped bit or missing byte is noticed.
#include "laconic/packet/omni_stream.hpp"

#include "support/everything.hpp"

TEST_CASE("who is an aggregator") {
    omni_stream const apart{100, 3, 2}, together{100, 3, 2, true};
    CHECK(apart.nodes() == 5);
    CHECK(apart.node_of(1) == 4);
    CHECK(apart.aggregator_at(2) == no_rank);
    CHECK(apart.aggregator_at(4) == 1);
    CHECK(apart.aggregator_at(5) == no_rank);
    CHECK(together.nodes() == 3);
    CHECK(together.node_of(1) == 1);
    CHECK(together.aggregator_at(1) == 1);
    CHECK(together.aggregator_at(2) == no_rank);
}

TEST_CASE("slots, columns and groups") {
    // 25 blocks; 2 aggregators with rows of 3 blocks each: 5 slots of theirs are enough, and each packet opens 4.
    omni_stream const few{100, 2, 2, false, 4, 3, 16};
    CHECK(few.slots_each() == 5);
    CHECK(few.all_slots() == 10);
    CHECK(few.columns().parts == 30);
    CHECK(few.columns().rows() == 1);
    CHECK(few.slots_in_group() == 4);
    CHECK(few.groups_each() == 2);
    omni_stream const two{100, 2, 2, false, 4, 3, 2};
    CHECK(two.slots_each() == 2);
    CHECK(two.columns().rows() == 3);
    CHECK(two.groups_each() == 1);
    omni_stream const of_nothing{0, 2};
    CHECK(of_nothing.slots_each() == 1);
    CHECK(of_nothing.groups_each() == 1);
    CHECK(of_nothing.columns().rows() == 0);
    // 24 + 3 (4 + 4 x 4); of one number: 24 + 12 + 4.
    CHECK(few.longest_packet<float>() == 84);
    CHECK(few.longest_packet<double>() == 132);
    CHECK(omni_stream{1, 1}.longest_packet<float>() == 40);
}

TEST_CASE("streams that differ in anything have other digests") {
    std::vector<omni_stream> const all{{100, 4},
                                       {101, 4},
                                       {100, 5},
                                       {100, 4, 2},
                                       {100, 4, 1, true},
                                       {100, 4, 1, false, 255},
                                       {100, 4, 1, false, 256, 2},
                                       {100, 4, 1, false, 256, 1, 15}};
    std::set<std::uint32_t> digests;
    for (auto const& how : all) {
        digests.insert(how.digest<float>());
        digests.insert(how.digest<double>());
    }
    CHECK(digests.size() == 2 * all.size());
    CHECK(all[0].digest<float>() == omni_stream{100, 4}.digest<float>());
}

TEST_CASE("streams that cannot be") {
    omni_stream{0, 1}.check();
    omni_stream{100, 3, 3, true, 1, 24, 1}.check();
    auto const refused = [](omni_stream const& how) {
        try {
            how.check();
        } catch (argument_error const& e) {
            return std::string(e.what());
        }
        return std::string("none");
    };
    CHECK(refused({std::size_t{1} << 32, 1}) == "more than 2^32 - 1 dimensions");
    CHECK(refused({10, 0}) == "0 workers");
    CHECK(refused({10, 2, 0}) == "0 aggregators for 2 workers");
    CHECK(refused({10, 2, 3, true}) == "3 aggregators for 2 workers");
    CHECK(refused({10, 2, 1, false, 0}) == "blocks of 0 coordinates");
    CHECK(refused({10, 2, 1, false, 4, 25}) == "25 blocks in a packet: 1 to 24 can be");
    CHECK(refused({10, 2, 1, false, 4, 0}) == "0 blocks in a packet: 1 to 24 can be");
    CHECK(refused({10, 2, 1, false, 4, 1, 0}) == "0 slots");
}

std::vector<std::byte> example(std::size_t extra) {
    omni_packet_writer writer;
    writer.begin({0x11223344, 7, omni_kind::sums, 0x800001, 5, 6}).half(9).word(0x0102030405060708);
    std::vector<float> const x(extra, 1.f);
    writer.numbers(std::span<float const>(x));
    auto const packet = writer.finish();
    return {packet.begin(), packet.end()};
}

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
