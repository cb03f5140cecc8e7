// SPDX-License-Identifier: Apache-2.0
// An `omni_aggregator` sends sums in the order of workers once all have come, repeats them, and drops bad packets.
#include "laconic/packet/omni_aggregator.hpp"

#include "support/everything.hpp"

constexpr std::uint32_t no_more = detail::no_block;

// Three workers, one slot of one column, blocks of 2.
constexpr omni_stream one_column{8, 3, 1, false, 2, 1, 1};

struct fixture {
    host on;
    omni_aggregator<float> aggregator{one_column, 0, {0.5, 0.25, 1, 2}};
    std::vector<std::pair<int, std::vector<std::byte>>> sent{};

    fixture() { aggregator.begin(3); }
    bool take(double now, std::size_t w, omni_kind kind, std::uint32_t turn, std::uint32_t columns, auto fill) {
        omni_packet_writer packet;
        packet.begin({one_column.digest<float>(), 3, kind, columns, 0, turn});
        fill(packet);
        omni_header h;
        auto const all = packet.finish();
        read_header(all, h);
        auto const out = [&](int to, std::span<std::byte const> p) {
            sent.emplace_back(to, std::vector<std::byte>(p.begin(), p.end()));
        };
        sent.clear();
        return aggregator.take(on, now, w, h, all.subspan(omni_header_bytes), out);
    }
    bool opening(std::size_t w, std::uint32_t next, std::uint64_t where = detail::no_coordinate) {
        return take(0, w, omni_kind::opening, 0, 0, [&](auto& p) { p.word(where).half(next); });
    }
    bool blocks(std::size_t w, std::uint32_t turn, std::uint32_t next, std::vector<float> const& x) {
        return take(1, w, omni_kind::blocks, turn, !x.empty(),
                    [&](auto& p) { p.half(next).numbers(std::span<float const>(x)); });
    }
    bool leaving(double now, std::size_t w) {
        return take(now, w, omni_kind::leaving, 0, 0, [](auto&) {});
    }
    omni_header header() const {
        omni_header h;
        REQUIRE(!sent.empty());
        CHECK(read_header(sent[0].second, h));
        return h;
    }
    std::uint32_t half(std::size_t i) const { return detail::load_half(sent.at(0).second.data() + 24 + 4 * i); }
};

TEST_CASE("an aggregator sends sums when all have taken the turn, added in the order of workers") {
    fixture f;
    CHECK(f.aggregator.waits_for() == 0);
    CHECK(f.opening(2, 1));
    CHECK(f.opening(0, 1));
    CHECK(f.sent.empty());
    CHECK(f.aggregator.waits_for() == 1);
    CHECK(f.opening(1, 3));
    CHECK(f.sent.size() == 3);
    CHECK(f.header().kind == omni_kind::opened);
    CHECK(f.half(0) == no_more);  // no_rank
    CHECK(f.half(3) == 1);

    CHECK(f.blocks(2, 1, 2, {-1e8f, 0}));
    CHECK(f.blocks(0, 1, no_more, {1e8f, 5}));
    CHECK(f.blocks(1, 1, 3, {}));
    CHECK(f.header().kind == omni_kind::sums);
    CHECK(f.header().columns == 1);
    CHECK(f.half(0) == 2);
    // (1 + 1e8) - 1e8 is 0 in the order of workers, and 1 in that in which they come.
    CHECK(f.blocks(2, 2, no_more, {-1e8f, 1}));
    CHECK(f.blocks(1, 2, 3, {1e8f, 1}));
    CHECK(f.blocks(0, 2, no_more, {1, 1}));
    float sum[2];
    detail::load_numbers(f.sent[0].second.data() + 28, std::span<float>(sum));
    CHECK(sum[0] == 0);
    CHECK(sum[1] == 3);
    CHECK(f.half(0) == 3);
    CHECK(f.aggregator.wakes_at() == never);
    for (std::size_t w = 0; w < 3; ++w) CHECK(f.blocks(w, 3, no_more, {1, 1}));
    CHECK(f.half(0) == no_more);
    CHECK(f.aggregator.waits_for() == no_rank);
    CHECK(!f.aggregator.done());
    for (std::size_t w = 0; w < 3; ++w) {
        CHECK(f.leaving(2, w));
        CHECK(f.header().kind == omni_kind::left);
        CHECK(f.sent[0].first == int(w));
    }
    CHECK(!f.leaving(2, 1));
    CHECK(f.sent.size() == 1);
    CHECK(f.aggregator.done());
}

TEST_CASE("a packet that comes again is answered alone, from memory, or with the worker that is missing") {
    fixture f;
    for (std::size_t w = 0; w < 3; ++w) f.opening(w, 0);
    auto const opened = f.sent[0].second;
    CHECK(!f.opening(1, 0));
    CHECK(f.sent.size() == 1);
    CHECK(f.sent[0] == std::pair(1, opened));
    CHECK(f.blocks(0, 1, 1, {1, 2}));
    CHECK(f.blocks(1, 1, 1, {1, 2}));
    CHECK(!f.blocks(0, 1, 1, {50, 50}));
    CHECK(f.sent.size() == 2);  // to the sender, and to the missing worker
    CHECK(f.header().kind == omni_kind::pending);
    CHECK(f.half(0) == 2);
    CHECK(f.sent[0].first == 0);
    CHECK(f.sent[1].first == 2);
    CHECK(f.blocks(2, 1, 1, {1, 2}));
    auto const sums = f.sent[0].second;
    CHECK(f.sent.size() == 3);
    CHECK(f.blocks(2, 2, no_more, {}));
    CHECK(!f.blocks(0, 1, 1, {50, 50}));  // it missed the sums, the others may not have
    CHECK(f.sent.size() == 1);
    CHECK(f.sent[0] == std::pair(0, sums));
    CHECK(!f.opening(0, 0));
    CHECK(f.sent.size() == 1);
}

TEST_CASE("the first number that is not finite, of the least worker that has any, is sent to all") {
    fixture f;
    f.opening(2, 0, 1);
    f.opening(1, 0, 6);
    f.opening(0, 0);
    CHECK(f.sent.size() == 3);
    CHECK(f.half(0) == 1);
    CHECK(f.half(1) == 6);
    CHECK(!f.blocks(0, 1, no_more, {1, 1}));  // nothing is open
    CHECK(f.sent.empty());
}

TEST_CASE("a worker that does not send that it leaves is waited for as long as a reply may take, and no longer") {
    fixture f;
    for (std::size_t w = 0; w < 3; ++w) f.opening(w, no_more);
    CHECK(f.aggregator.wakes_at() == 16);
    f.leaving(5, 0);
    f.leaving(5, 1);
    CHECK(f.aggregator.wakes_at() == 21);
    f.aggregator.wake(20);
    CHECK(!f.aggregator.done());
    f.aggregator.wake(21);
    CHECK(f.aggregator.done());
    CHECK(f.aggregator.wakes_at() == never);
}

TEST_CASE("packets that do not fit are dropped") {
    fixture f;
    CHECK(!f.blocks(0, 1, no_more, {}));
    CHECK(!f.opening(0, 4));
    CHECK(!f.take(0, 0, omni_kind::opening, 0, 0, [](auto& p) { p.word(0); }));
    CHECK(!f.take(0, 0, omni_kind::blocks, 0, 0, [](auto& p) { p.word(0).half(0); }));
    for (std::size_t w = 0; w < 3; ++w) CHECK(f.opening(w, 1));
    CHECK(!f.blocks(0, 2, no_more, {1, 1}));
    CHECK(!f.blocks(0, 1, 1, {1, 1}));  // not after block 1
    CHECK(!f.blocks(0, 1, 4, {1, 1}));
    CHECK(!f.blocks(0, 1, no_more, {1, 1, 1}));
    CHECK(!f.take(0, 0, omni_kind::blocks, 1, 2, [](auto& p) { p.half(no_more).word(0); }));
    CHECK(!f.take(0, 0, omni_kind::sums, 1, 1, [](auto& p) { p.half(no_more).word(0); }));
    CHECK(f.sent.empty());
    CHECK(f.blocks(0, 1, no_more, {1, 1}));
}
