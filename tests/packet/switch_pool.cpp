// SPDX-License-Identifier: Apache-2.0
// A `switch_pool` adds each block once for each worker, repeats sums, and sorts packets of other rounds.
#include "laconic/packet/switch_pool.hpp"

#include "support/everything.hpp"

using detail::switch_header;
using detail::switch_kind;

// A switch for two workers, with one slot and blocks of two; keeps its replies, and to whom they go.
struct bench {
    switch_layout how{.d = 7, .workers = 2, .block = 2, .slot_count = 1};
    detail::switch_pool<float> pool{how, 0, {}};
    std::vector<std::pair<int, std::vector<std::byte>>> replies;
    std::uint64_t round;
    double now = 0;

    explicit bench(std::uint64_t r = 1) : round(r) { pool.begin(r); }

    bool send(int from, switch_kind what, std::vector<std::byte> const& bytes, std::uint32_t block = 0,
              int exponent = 0, std::uint64_t in = 0) {
        replies.clear();
        std::vector<std::byte> packet(32 + bytes.size());
        std::copy(bytes.begin(), bytes.end(), packet.begin() + 32);
        switch_header{what, detail::digest_of(detail::values_of<float>(how, 0)), in ? in : round, block,
                      std::int16_t(exponent)}
            .seal(packet, true);
        return pool.take(now, from, packet, [&](int to, std::span<std::byte const> p) {
            replies.emplace_back(to, std::vector(p.begin(), p.end()));
        });
    }
    bool hello(int from, int exponent, std::uint64_t in = 0) {
        std::vector<std::byte> bytes(32 + 64 + 2);
        auto const values = detail::values_of<float>(how, in ? in : round);
        for (std::size_t i = 0; i < values.size(); ++i) detail::store_word(bytes.data() + 32 + 8 * i, values[i]);
        detail::store_little(bytes.data() + 96, std::int16_t(exponent));
        return send(from, switch_kind::hello, bytes, 0, 0, in);
    }
    bool numbers(int from, std::uint32_t block, std::vector<std::int32_t> const& n, int next = 0) {
        std::vector<std::byte> bytes(4 * n.size());
        for (std::size_t i = 0; i < n.size(); ++i) detail::store_half(bytes.data() + 4 * i, std::uint32_t(n[i]));
        return send(from, switch_kind::numbers, bytes, block, next);
    }
    bool bye(int from, std::uint64_t in = 0) { return send(from, switch_kind::bye, {}, 0, 0, in); }

    switch_header head(std::size_t i) const { return switch_header::open(replies.at(i).second, true).value(); }
    std::int32_t number(std::size_t i, std::size_t j) const {
        return std::int32_t(detail::load_half(replies.at(i).second.data() + 32 + 4 * j));
    }
};

TEST_CASE("one slot by hand: four blocks, of which three are full") {
    bench b;
    CHECK(b.pool.waits_for() == 0);
    CHECK(!b.numbers(0, 0, {1, 2}));  // nobody has sent hello
    CHECK(b.hello(1, 5));
    CHECK(b.replies.empty());
    CHECK(b.pool.waits_for() == 0);
    CHECK(!b.hello(1, 9));  // again: it waits for 0, and the exponent counts no more
    CHECK(b.replies.size() == 1);
    CHECK(b.head(0).what == switch_kind::patience);
    CHECK(b.number(0, 0) == 0);
    CHECK(b.hello(0, 3));
    CHECK(b.replies.size() == 2);
    CHECK(b.head(1).what == switch_kind::welcome);
    CHECK(detail::load_little<std::int16_t>(b.replies[1].second.data() + 64) == 5);

    CHECK(b.numbers(0, 0, {1, -2}, -7));
    CHECK(b.replies.empty());
    CHECK(b.pool.waits_for() == 1);
    CHECK(!b.numbers(0, 0, {1, -2}, -7));
    CHECK(b.head(0).what == switch_kind::patience);
    CHECK(b.head(0).block == 0);
    CHECK(b.number(0, 0) == 1);
    CHECK(!b.numbers(1, 1, {1}));     // another length than the block's
    CHECK(!b.numbers(1, 4, {1}));     // no such block
    CHECK(!b.numbers(1, 2, {1, 1}));  // two ahead: the version is not free
    CHECK(b.numbers(1, 0, {10, 2147483647}, -9));
    CHECK(b.replies.size() == 2);
    for (int to : {0, 1}) {
        CHECK(b.replies[std::size_t(to)].first == to);
        CHECK(b.head(std::size_t(to)).block == 0);
        CHECK(b.head(std::size_t(to)).exponent == -7);
        CHECK(b.number(std::size_t(to), 0) == 11);
        CHECK(b.number(std::size_t(to), 1) == 2147483645);
    }
    // A worker that lost it sends again, and gets the only reply, also while the other one is a block ahead.
    CHECK(b.numbers(1, 1, {5, 5}));
    CHECK(!b.numbers(0, 0, {1, -2}));
    CHECK(b.replies.size() == 1);
    CHECK(b.replies[0].first == 0);
    CHECK(b.number(0, 0) == 11);
    CHECK(!b.numbers(1, 2, {0, 0}));  // 0 may still need block 0, which stands there
    CHECK(b.numbers(0, 1, {1, 1}));
    CHECK(b.number(0, 0) == 6);
    CHECK(b.numbers(0, 2, {8, 9}));
    CHECK(!b.numbers(1, 0, {10, 0}));  // late: its place is taken
    CHECK(b.replies.empty());
    CHECK(b.numbers(1, 2, {0, 1}));
    CHECK(b.number(1, 0) == 8);
    CHECK(b.number(1, 1) == 10);
    CHECK(b.bye(1));
    CHECK(b.head(0).what == switch_kind::good_bye);
    CHECK(b.numbers(0, 3, {4}));
    CHECK(b.numbers(1, 3, {4}));
    CHECK(b.replies[0].second.size() == 32 + 4);
    CHECK(b.number(0, 0) == 8);
    CHECK(b.pool.waits_for() == 0);
    CHECK(!b.pool.done());
    CHECK(b.bye(0));
    CHECK(!b.bye(0));
    CHECK(b.replies.size() == 1);
    CHECK(b.pool.done());
    CHECK(b.pool.waits_for() == no_rank);
}

TEST_CASE("a switch is done when nothing has come for long after the last sum") {
    bench b;
    b.how.d = 2;
    b.pool = {b.how, 0, {.first = 0.01, .least = 0.01, .most = 0.1}};
    b.pool.begin(1);
    b.hello(0, 1);
    b.hello(1, 1);
    CHECK(b.pool.wakes_at() == never);
    b.numbers(0, 0, {1, 1});
    b.now = 3;
    b.numbers(1, 0, {1, 1});
    CHECK(b.pool.wakes_at() == doctest::Approx(4.6));
    b.now = 4;
    CHECK(!b.numbers(1, 0, {1, 1}));  // again
    CHECK(b.pool.wakes_at() == doctest::Approx(5.6));
    b.pool.wake(5.5);
    CHECK(!b.pool.done());
    b.pool.wake(5.7);
    CHECK(b.pool.done());
    CHECK(b.pool.wakes_at() == never);
}

TEST_CASE("packets of other rounds") {
    bench b(8);
    CHECK(!b.hello(0, 1, 7));  // older, or of a worker that is behind: who has its sum knows what that means
    CHECK(b.head(0).what == switch_kind::later);
    CHECK(b.head(0).round == 8);
    CHECK(!b.bye(1, 7));
    CHECK(b.head(0).what == switch_kind::good_bye);
    CHECK(b.head(0).round == 7);
    CHECK(b.hello(0, 1));
    CHECK(b.hello(1, 1, 9));  // one that is ahead
    for (std::size_t to : {0, 1}) {
        CHECK(b.head(to).round == 8 + to);
        auto const c = detail::switch_error::take(b.replies[to].second.data() + 32);
        REQUIRE(c);
        CHECK_THROWS_WITH_AS(c->raise(8),
                             "ranks disagree: rank 1 has \"the round: 9\", its switch has \"the round: 8\"",
                             agreement_error);
    }
    CHECK(!b.numbers(0, 0, {1, 1}));
    // A worker whose goodbyes were all lost has gone on.
    bench other(8);
    other.hello(0, 1);
    other.hello(1, 1);
    CHECK(other.hello(1, 1, 9));
    CHECK(other.pool.waits_for() == 0);
}
