// SPDX-License-Identifier: Apache-2.0
// An `omni_worker` sends its blocks in their turns, repeats what is unanswered, and drops sums that do not fit.
#include "laconic/packet/omni_worker.hpp"

#include "support/everything.hpp"

constexpr std::uint32_t none = detail::no_block;

// One aggregator, node 2, one slot of one column, blocks of 2: blocks 0, 1, 2, .. one after another.
constexpr omni_stream one_column{8, 2, 1, false, 2, 1, 1};

struct network {
    std::vector<std::vector<std::byte>> sent;
    void operator()(int to, std::span<std::byte const> packet) {
        CHECK(to == 2);
        sent.emplace_back(packet.begin(), packet.end());
    }
};
struct fixture {
    host on;
    std::vector<float> x;
    omni_worker<float> worker{one_column, 0, {0.5, 0.25, 4, 2}};
    network out{};

    explicit fixture(std::vector<float> brought) : x(std::move(brought)) {
        worker.begin(on, x, 3);
        worker.start(0, out);
    }
    std::span<std::byte const> last(omni_header& h) const {
        CHECK(read_header(out.sent.back(), h));
        return std::span(out.sent.back()).subspan(omni_header_bytes);
    }
    bool take(double now, omni_kind kind, std::uint32_t turn, std::uint32_t columns, auto fill) {
        omni_packet_writer packet;
        packet.begin({one_column.digest<float>(), 3, kind, columns, 0, turn});
        fill(packet);
        omni_header h;
        auto const all = packet.finish();
        read_header(all, h);
        return worker.take(on, now, 0, h, all.subspan(omni_header_bytes), out);
    }
    bool opened(double now, std::uint32_t block) {
        return take(now, omni_kind::opened, 0, 0, [&](auto& p) {
            p.half(static_cast<std::uint32_t>(no_rank)).word(detail::no_coordinate).half(block);
        });
    }
    bool sums(double now, std::uint32_t turn, std::uint32_t next, std::vector<float> const& sum) {
        return take(now, omni_kind::sums, turn, 1, [&](auto& p) { p.half(next).numbers(std::span<float const>(sum)); });
    }
};

TEST_CASE("a worker sends its blocks when their turn comes, and nothing in others' turns") {
    fixture f({0, 0, 1, 2, 0, 0, 3, 0});
    omni_header h;
    auto sent = f.last(h);
    CHECK(h.kind == omni_kind::opening);
    CHECK(h.round == 3);
    CHECK(sent.size() == 12);
    CHECK(detail::load_word(sent.data()) == detail::no_coordinate);
    CHECK(detail::load_half(sent.data() + 8) == 1);
    CHECK(f.worker.waits_for() == 2);

    CHECK(f.opened(1, 0));  // another worker's block
    sent = f.last(h);
    CHECK(h.kind == omni_kind::blocks);
    CHECK(h.turn == 1);
    CHECK(h.columns == 0);
    CHECK(sent.size() == 4);
    CHECK(detail::load_half(sent.data()) == 1);

    CHECK(f.sums(2, 1, 1, {7, 8}));
    sent = f.last(h);
    CHECK(h.turn == 2);
    CHECK(h.columns == 1);
    CHECK(sent.size() == 12);
    CHECK(detail::load_half(sent.data()) == 3);
    float numbers[2];
    detail::load_numbers(sent.data() + 4, std::span<float>(numbers));
    CHECK(numbers[1] == 2);

    CHECK(f.sums(3, 2, 3, {10, 20}));
    CHECK(f.sums(4, 3, none, {30, 0}));
    f.last(h);
    CHECK(h.kind == omni_kind::leaving);
    CHECK(f.x == std::vector<float>{7, 8, 10, 20, 0, 0, 30, 0});
    CHECK(f.worker.waits_for() == no_rank);
    CHECK(!f.worker.done());
    CHECK(f.worker.take_left(5, 0));
    CHECK(f.worker.done());
    CHECK(!f.worker.take_left(5, 0));
}

TEST_CASE("what was not answered is sent again, later each time, and a farewell not for ever") {
    fixture f({0, 0, 0, 0, 0, 0, 0, 5});
    CHECK(f.worker.wakes_at() == 0.5);
    f.worker.wake(0.25, f.out);
    CHECK(f.out.sent.size() == 1);
    f.worker.wake(0.5, f.out);
    CHECK(f.out.sent.size() == 2);
    CHECK(f.out.sent[0] == f.out.sent[1]);
    CHECK(f.worker.wakes_at() == 1.5);
    CHECK(f.opened(1.5, 3));
    CHECK(f.worker.wakes_at() == 1.5);
    f.worker.wake(1.5, f.out);
    CHECK(f.out.sent.size() == 3);
    CHECK(f.worker.wakes_at() == 2);       // no round trip could be timed
    CHECK(f.sums(1.75, 1, none, {1, 1}));  // one of 1/4: the wait is 1/4 + 4 / 8
    f.worker.wake(2, f.out);
    CHECK(f.worker.wakes_at() == 2.5);
    f.worker.wake(2.5, f.out);
    CHECK(f.out.sent.size() == 5);
    CHECK(!f.worker.done());
    f.worker.wake(4, f.out);
    CHECK(f.out.sent.size() == 5);
    CHECK(f.worker.done());
}

TEST_CASE("the missing worker is the one that the aggregator names, as long as the aggregator replies") {
    fixture f({0, 0, 0, 0, 0, 0, 0, 5});
    auto const pending = [&](std::uint32_t who) {
        return f.take(0, omni_kind::pending, 0, 0, [&](auto& p) { p.half(who); });
    };
    CHECK(!pending(1));
    CHECK(f.worker.waits_for() == 1);
    CHECK(!pending(17));
    CHECK(!pending(0));
    CHECK(f.worker.waits_for() == 1);
    for (int n = 0; n < 8; ++n) f.worker.wake(100.0 * (n + 1), f.out);
    CHECK(f.worker.waits_for() == 2);
}

TEST_CASE("replies that do not fit are dropped") {
    fixture f({0, 0, 1, 2, 0, 0, 3, 0});
    CHECK(!f.sums(1, 0, none, {}));
    CHECK(!f.sums(1, 1, 1, {1, 2}));  // not open
    CHECK(!f.opened(1, none));        // block 1 must come
    CHECK(!f.opened(1, 2));
    CHECK(!f.opened(1, 9));
    CHECK(f.opened(1, 1));
    CHECK(!f.opened(1, 1));
    CHECK(!f.sums(2, 2, 3, {1, 2}));
    CHECK(!f.sums(2, 1, 3, {1, 2, 3}));
    CHECK(!f.sums(2, 1, 1, {1, 2}));     // back
    CHECK(!f.sums(2, 1, none, {1, 2}));  // block 3 must come
    CHECK(!f.take(2, omni_kind::sums, 1, 3, [](auto& p) { p.half(3).word(0); }));
    CHECK(!f.take(2, omni_kind::sums, 1, 0, [](auto& p) { p.half(2); }));  // without the numbers of its block
    CHECK(!f.take(2, omni_kind::opened, 1, 1, [](auto& p) { p.half(3).word(0); }));
    CHECK(f.x == std::vector<float>{0, 0, 1, 2, 0, 0, 3, 0});
    CHECK(f.sums(2, 1, 2, {1, 2}));
    CHECK(!f.sums(2, 1, 2, {1, 2}));
}
