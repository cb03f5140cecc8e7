// SPDX-License-Identifier: Apache-2.0
// A `switch_worker` sends hello, blocks and bye, repeats them ever more rarely, and refuses wrong exponents.
#include "laconic/packet/switch_worker.hpp"

#include "support/everything.hpp"

using detail::switch_header;
using detail::switch_kind;

// Two workers and their switch, among whom the test carries packets.
struct bench {
    switch_layout how{.d = 5, .workers = 2, .block = 2, .slot_count = 2};
    retransmission when{.first = 1, .least = 1, .most = 8, .farewells = 3};
    detail::switch_pool<float> pool{how, 0, when};
    detail::switch_worker<float> worker{how, 0, 0, when}, other{how, 1, 0, when};
    std::vector<float> x{1, 2, 3, 4, 5}, y{10, 20, 30, 40, 50};
    std::vector<std::vector<std::byte>> sent;  // by the worker, and not yet carried
    std::vector<std::pair<int, std::vector<std::byte>>> replies;

    bench() {
        pool.begin(3);
        worker.begin(x, 3, {});
        other.begin(y, 3, {});
    }
    auto keep() {
        return [this](int to, std::span<std::byte const> p) {
            CHECK(to == 2);
            sent.emplace_back(p.begin(), p.end());
        };
    }
    // What `from` sends, and at once what it then sends.
    void carry(int from, std::span<std::byte const> p, double now) {
        pool.take(now, from, p, [this](int to, std::span<std::byte const> a) {
            replies.emplace_back(to, std::vector(a.begin(), a.end()));
        });
    }
    void start_other(double now) {
        auto const out = [&](int, std::span<std::byte const> p) { carry(1, p, now); };
        other.start(now, out);
    }
    switch_header head(std::size_t i) const { return switch_header::open(sent.at(i), true).value(); }
    // The worker's packets reach the switch, and all replies those they are for, again and again.
    void settle(double now) {
        while (!sent.empty() || !replies.empty()) {
            for (auto const& p : std::exchange(sent, {})) carry(0, p, now);
            for (auto const& [to, p] : std::exchange(replies, {}))
                if (to == 0)
                    worker.take(now, p, keep());
                else
                    other.take(now, p, [&](int, std::span<std::byte const> q) { carry(1, q, now); });
        }
    }
};

TEST_CASE("hello, blocks, bye; what is not answered is sent again, ever more rarely") {
    bench b;
    CHECK(b.worker.wakes_at() == never);
    b.worker.start(0, b.keep());
    REQUIRE(b.sent.size() == 1);
    CHECK(b.head(0).what == switch_kind::hello);
    CHECK(b.worker.wakes_at() == 1);
    CHECK(b.worker.waits_for() == 2);
    auto const hello = b.sent[0];
    for (double const at : {1.0, 3.0, 7.0, 15.0, 23.0}) {  // after 1, 2, 4, 8 and at most 8 seconds
        CHECK(b.worker.wakes_at() == at);
        b.sent.clear();
        b.worker.wake(at, b.keep());
        REQUIRE(b.sent.size() == 1);
        CHECK(b.sent[0] == hello);
    }
    // The switch has received it, but not the other one, and replies so to a sender that repeats.
    b.carry(0, hello, 24);
    b.carry(0, hello, 24);
    REQUIRE(b.replies.size() == 1);
    CHECK(!b.worker.take(24, b.replies[0].second, b.keep()));
    CHECK(b.worker.waits_for() == 1);
    for (int i = 0; i < 3; ++i) b.worker.wake(b.worker.wakes_at(), b.keep());
    CHECK(b.worker.waits_for() == 2);  // of which nothing is received any more
    b.replies.clear();
    b.sent.clear();

    b.start_other(60);
    auto const welcome = b.replies.at(0).second;
    b.replies.erase(b.replies.begin());
    CHECK(b.worker.take(60, welcome, b.keep()));
    CHECK(!b.worker.take(60, welcome, b.keep()));  // twice
    CHECK(b.sent.size() == 2);                     // two slots
    CHECK(b.head(1).what == switch_kind::numbers);
    CHECK(b.head(1).block == 1);
    CHECK(b.head(0).exponent == 3);  // of block 2: 5 < 2^3
    CHECK(!b.worker.has_sum());
    // Both are lost, and made anew: the same bytes.
    auto const lost = std::exchange(b.sent, {});
    b.worker.wake(60.9, b.keep());
    CHECK(b.sent.empty());
    b.worker.wake(61, b.keep());
    CHECK(b.sent == lost);
    b.settle(70);
    CHECK(b.worker.has_sum());
    CHECK(b.worker.done());
    CHECK(b.worker.sum_is_finite());
    CHECK(b.x == std::vector<float>{11, 22, 33, 44, 55});
    CHECK(b.y == b.x);
    CHECK(b.pool.done());
    CHECK(b.worker.wakes_at() == never);
    CHECK(b.worker.waits_for() == no_rank);
}

TEST_CASE("who has its sum sends bye some times, and then goes") {
    bench b;
    b.worker.start(0, b.keep());
    b.start_other(0);
    while (!b.worker.has_sum()) {
        for (auto const& p : std::exchange(b.sent, {})) b.carry(0, p, 0);
        for (auto const& [to, p] : std::exchange(b.replies, {}))
            if (to == 0)
                b.worker.take(0, p, b.keep());
            else
                b.other.take(0, p, [&](int, std::span<std::byte const> q) { b.carry(1, q, 0); });
    }
    CHECK(!b.worker.done());
    REQUIRE(b.sent.size() == 1);
    CHECK(b.head(0).what == switch_kind::bye);
    for (int i = 0; i < 3; ++i) {
        CHECK(b.sent.size() == std::size_t(i + 1));
        CHECK(!b.worker.done());
        b.worker.wake(b.worker.wakes_at(), b.keep());
    }
    CHECK(b.sent.size() == 3);
    CHECK(b.worker.done());
}

TEST_CASE("no switch sends an exponent below a worker's own") {
    bench b;
    b.worker.start(0, b.keep());
    auto const digest = b.head(0).digest;
    std::vector<std::byte> welcome(32 + 32 + 4);
    auto const exponents = [&](int first, int second) {
        detail::store_little(welcome.data() + 64, std::int16_t(first));
        detail::store_little(welcome.data() + 66, std::int16_t(second));
        switch_header{switch_kind::welcome, digest, 3}.seal(welcome, true);
        return b.worker.take(0, welcome, b.keep());
    };
    CHECK(!exponents(1, 3));  // 2 < 2^2, 4 < 2^3
    CHECK(!exponents(2, 2));
    CHECK(exponents(2, 3));
    std::vector<std::byte> sums(32 + 8);
    auto const next = [&](std::uint32_t block, int e) {
        switch_header{switch_kind::sums, digest, 3, block, std::int16_t(e)}.seal(sums, true);
        return b.worker.take(0, sums, b.keep());
    };
    CHECK(!next(0, 2));  // block 2 has 5
    CHECK(!next(2, 3));  // not under way
    CHECK(b.x[0] == 1);
    CHECK(next(0, 3));
    CHECK(b.x[0] == 0);
    CHECK(!next(0, 3));
}

TEST_CASE("a worker with an error takes no welcome without a verdict: it has no vector to send") {
    using wrong = detail::switch_error;
    for (auto const& why : {wrong{wrong::input, 0, 4}, wrong{wrong::disagreement, 0, 0, 6, 5}}) {
        bench b;
        b.worker.start(0, b.keep());
        b.carry(0, b.sent.at(0), 0);  // a good hello; then the worker dies, and comes back in the same round
        b.sent.clear();
        b.worker.begin({}, 3, why);
        b.worker.start(1, b.keep());
        b.start_other(1);
        REQUIRE(b.replies.size() == 2);
        REQUIRE(b.replies[0].first == 0);
        CHECK(switch_header::open(b.replies[0].second, true).value().what == switch_kind::welcome);
        b.sent.clear();
        CHECK(!b.worker.take(1, b.replies[0].second, b.keep()));
        CHECK(b.sent.empty());
        CHECK(!b.worker.has_sum());
        CHECK(b.worker.waits_for() == 2);
        CHECK(b.worker.wakes_at() == 2);  // it goes on to send its error
        b.worker.wake(2, b.keep());
        CHECK(b.head(0).what == switch_kind::hello);
    }
}
