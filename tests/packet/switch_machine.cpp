// SPDX-License-Identifier: Apache-2.0
// `switch_machine` gives the paper's integer sums over lossy networks, shares all errors and names silent nodes.
#include "laconic/packet/switch_machine.hpp"

#include <deque>

#include "support/everything.hpp"
#include "support/lossy_network.hpp"

static_assert(PacketMachine<switch_machine<float>>);

template <class T>
using vectors = std::vector<std::vector<T>>;

// Numbers of all sizes: from block to block by powers of two up to `spread`, within blocks by any.
template <class T>
vectors<T> numbers(std::size_t d, int workers, std::size_t block, int spread, std::uint64_t seed = 1) {
    vectors<T> all;
    for (int w = 0; w < workers; ++w) {
        auto const k = key{seed}.child(std::uint64_t(w));
        all.emplace_back(d);
        for (std::size_t i = 0; i < d; ++i) {
            int const e = int(key{seed}.child(77).below(i / block, std::uint64_t(2 * spread + 1))) - spread;
            all.back()[i] = T(std::ldexp(2 * k.uniform(2 * i) - 1, e - int(k.below(2 * i + 1, 12))));
        }
    }
    return all;
}

// The sum as the paper has it, in 64-bit integers: block by block, with the exponent that all agree on.
template <class T>
std::vector<T> model(vectors<T> const& all, switch_layout const& how) {
    std::vector<T> sum(how.d);
    int bits = 0;
    while ((std::int64_t(how.workers) << (bits + 1)) < (std::int64_t{1} << 31)) ++bits;
    for (int s = 0; s < how.switches; ++s) {
        std::size_t const end = how.d * std::size_t(s + 1) / std::size_t(how.switches);
        for (std::size_t at = how.d * std::size_t(s) / std::size_t(how.switches); at < end; at += how.block) {
            std::size_t const last = std::min(end, at + how.block);
            int e = -100000;
            for (auto const& x : all)
                for (std::size_t i = at; i < last; ++i)
                    if (x[i] != 0) e = std::max(e, std::ilogb(x[i]) + 1);
            if (e == -100000) continue;
            for (std::size_t i = at; i < last; ++i) {
                std::int64_t total = 0;
                for (auto const& x : all) total += std::llrint(std::ldexp((long double)x[i], bits - e));
                CHECK(total == std::int32_t(total));
                sum[i] = T(std::ldexp((long double)total, e - bits));
            }
        }
    }
    return how.workers == 1 ? all[0] : sum;
}

template <class T>
struct cluster {
    switch_layout how;
    std::deque<switch_machine<T>> nodes{};
    lossy_network network;

    cluster(switch_layout l, packet_faults faults, std::uint64_t seed = 5, retransmission when = {})
        : how(l), network(key{seed}, faults) {
        for (int n = 0; n < l.nodes(); ++n) network.add(nodes.emplace_back(l, n, when));
    }
    bool run(vectors<T>& x, std::uint64_t round, double deadline = 5) {
        for (int n = 0; n < how.nodes(); ++n)
            nodes[std::size_t(n)].begin(n < how.workers ? std::span<T>(x[std::size_t(n)]) : std::span<T>(), round);
        return network.run(deadline);
    }
    std::string error_of(int node) const {
        try {
            nodes[std::size_t(node)].finish();
        } catch (error const& e) {
            return e.what();
        }
        return "none";
    }
};

template <class T>
bool same(std::vector<T> const& x, std::vector<T> const& y) {
    return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0);
}

// Two rounds one after another, so that packets of the first come in the second.
template <class T>
std::uint64_t sums_are_right(switch_layout how, packet_faults faults, int spread) {
    CAPTURE(how.workers);
    CAPTURE(how.switches);
    CAPTURE(how.d);
    CAPTURE(faults.lost);
    cluster<T> all(how, faults);
    for (std::uint64_t round : {7, 8}) {
        auto x = numbers<T>(how.d, how.workers, how.block, spread, round);
        auto const sum = model(x, how);
        REQUIRE(all.run(x, round));
        for (int w = 0; w < how.workers; ++w) {
            CHECK(all.error_of(w) == "none");
            CHECK(same(x[std::size_t(w)], sum));
        }
    }
    return all.network.packets();
}

TEST_CASE("over a network that loses, repeats, overtakes and damages packets the sums are those of the integers") {
    static_assert(PacketMachine<switch_machine<double>>);
    std::uint64_t packets = 0;
    for (double const share : {0.0, 0.02, 0.2}) {
        packet_faults const faults{share, share, share, share / 2};
        for (int const workers : {1, 2, 5, 17})
            packets += sums_are_right<float>({.d = 303, .workers = workers, .block = 7, .slot_count = 6}, faults, 20);
        packets +=
            sums_are_right<float>({.d = 603, .workers = 5, .block = 16, .slot_count = 32, .switches = 3}, faults, 120);
        for (int const workers : {2, 3})
            packets += sums_are_right<double>(
                {.d = 200, .workers = workers, .block = 8, .slot_count = 1, .switches = workers, .apart = false},
                faults, 900);
    }
    CHECK(packets > 10000);
    // Nothing, less than a block, one block, one slot for all.
    for (std::size_t const d : {0, 1, 9, 10, 11, 30})
        for (int const switches : {1, 3})
            sums_are_right<float>({.d = d, .workers = 3, .block = 10, .slot_count = 1, .switches = switches}, {0.2}, 3);
}

TEST_CASE("any number of workers up to what the arithmetic allows") {
    for (int const workers : {64, 65}) {
        switch_layout const how{.d = 8, .workers = workers, .block = 4, .slot_count = 2};
        sums_are_right<float>(how, {0.05}, 2);
    }
    switch_layout how{.d = 8, .workers = 65536};
    CHECK_THROWS_WITH_AS(switch_machine<float>(how, 0),
                         "a sum by switches of 65536 workers: from 1 to 65535 are possible", argument_error);
    how.workers = 3;
    CHECK_THROWS_WITH_AS(switch_machine<float>(how, 4), "node 4 of 4", argument_error);
    how.slot_count = 513;
    CHECK_THROWS_AS(switch_machine<float>(how, 0), argument_error);
}

TEST_CASE("who brings what is not finite is named to all, and nothing is changed") {
    switch_layout const how{.d = 100, .workers = 4, .block = 8, .slot_count = 4, .switches = 2};
    auto const good = numbers<float>(100, 4, 8, 3);
    for (bool const apart : {true, false}) {
        auto layout = how;
        layout.apart = apart;
        cluster<float> all(layout, {0.1, 0.1, 0.1});
        std::uint64_t round = 0;
        auto const check_error = [&](auto const& x, std::string const& text) {
            auto copy = x;
            REQUIRE(all.run(copy, ++round));
            for (int w = 0; w < 4; ++w) {
                auto const thrown = all.error_of(w);
                CHECK(thrown.substr(thrown.find("rank ")) == text);
                CHECK(same(copy[std::size_t(w)], x[std::size_t(w)]));
            }
        };
        auto bad = good;
        bad[2][97] = NAN;
        check_error(bad,
                    "rank 2, round " + std::to_string(round + 1) + ": the gradient is not finite at coordinate 97");
        bad[3][0] = INFINITY;
        bad[2][98] = -INFINITY;
        check_error(bad,
                    "rank 2, round " + std::to_string(round + 1) + ": the gradient is not finite at coordinate 97");
        bad = good;
        bad[1].pop_back();
        check_error(bad, "rank 1 has \"the dimension: 99\", its switch has \"the dimension: 100\"");
        bad[3][50] = NAN;
        check_error(bad,
                    "rank 3, round " + std::to_string(round + 1) + ": the gradient is not finite at coordinate 50");
        auto x = good;
        REQUIRE(all.run(x, 15));  // the next round is held
        CHECK(same(x[3], model(good, layout)));
        // Finite numbers whose sum is not.
        x = good;
        x[0][60] = x[1][60] = x[3][99] = x[2][99] = 3e38f;
        REQUIRE(all.run(x, 16));
        for (int w = 0; w < 4; ++w) CHECK(all.error_of(w) == "round 16: the ranks' sum is not finite at coordinate 60");
    }
}

TEST_CASE("where ranks disagree all throw the same error") {
    switch_layout const how{.d = 50, .workers = 3, .block = 8, .slot_count = 4};
    auto const check_error = [&](auto change, std::uint64_t round, std::string const& text) {
        for (int culprit = 0; culprit < 3; ++culprit) {
            auto other = how;
            change(other);
            std::deque<switch_machine<float>> nodes;
            lossy_network network(key{3}, {0.2, 0.2, 0.2});
            auto x = numbers<float>(50, 3, 8, 1);
            auto const before = x;
            x[std::size_t(culprit)].resize(other.d);
            for (int n = 0; n < 4; ++n) {
                auto& node = nodes.emplace_back(n == culprit ? other : how, n);
                node.begin(n < 3 ? std::span<float>(x[std::size_t(n)]) : std::span<float>(), n == culprit ? round : 5);
                network.add(node);
            }
            CHECK(network.run(5));
            for (int w = 0; w < 3; ++w) {
                CHECK_THROWS_WITH_AS(nodes[std::size_t(w)].finish(),
                                     ("ranks disagree: rank " + std::to_string(culprit) + " has " + text).c_str(),
                                     agreement_error);
                if (w != culprit) CHECK(x[std::size_t(w)] == before[std::size_t(w)]);
            }
        }
    };
    check_error([](auto& l) { l.d = 49; }, 5, "\"the dimension: 49\", its switch has \"the dimension: 50\"");
    check_error([](auto& l) { l.block = 16; }, 5, "\"the block: 16\", its switch has \"the block: 8\"");
    check_error([](auto& l) { l.slot_count = 3; }, 5, "\"the slots: 3\", its switch has \"the slots: 4\"");
    check_error([](auto&) {}, 6, "\"the round: 6\", its switch has \"the round: 5\"");
    check_error([](auto&) {}, 2, "\"the round: 2\", its switch has \"the round: 5\"");
}

TEST_CASE("a node that falls silent is named") {
    switch_layout const how{.d = 2000, .workers = 4, .block = 8, .slot_count = 4, .switches = 2};
    for (double const from : {0.0, 0.03})
        for (int const silent : {0, 2, 4, 5}) {
            CAPTURE(from);
            CAPTURE(silent);
            cluster<float> all(how, {0.05});
            all.network.silence(silent, from);
            auto x = numbers<float>(2000, 4, 8, 3);
            CHECK(!all.run(x, 1, 3));
            CHECK(all.network.now() < from + 4);
            for (int n = 0; n < 6; ++n)
                if (n != silent && !all.nodes[std::size_t(n)].done())
                    CHECK(all.nodes[std::size_t(n)].waits_for() == silent);
        }
}

TEST_CASE("packets: up and down each block once for each worker, and four that begin and end") {
    // Nothing is lost, and nobody is impatient.
    switch_layout const how{.d = 1000, .workers = 5, .block = 10, .slot_count = 20};
    cluster<float> all(how, {}, 5, {1, 1, 1});
    auto x = numbers<float>(1000, 5, 10, 3);
    REQUIRE(all.run(x, 1));
    CHECK(all.network.packets() == 5 * (2 * 100 + 4));
}

TEST_CASE("what no node would send is dropped") {
    switch_layout const how{.d = 40, .workers = 2, .block = 8, .slot_count = 2, .checksums = false};
    auto const x = numbers<float>(40, 2, 8, 3);
    auto const sum = model(x, how);
    for (std::uint64_t seed = 0; seed < 25; ++seed) {
        cluster<float> all(how, {}, seed);
        // Whatever is sent, others receive it changed as well, with no checksum that would show it.
        std::uint64_t drawn = 0;
        auto y = x;
        std::vector<std::byte> copy;
        for (int n = 0; n < 3; ++n)
            all.nodes[std::size_t(n)].begin(n < 2 ? std::span<float>(y[std::size_t(n)]) : std::span<float>(), 1);
        all.network.watch([&](int from, int to, std::span<std::byte const> packet) {
            copy.assign(packet.begin(), packet.end());
            auto const k = key{seed}.child(1);
            // Another kind, round, length: not numbers, where no node could notice it.
            auto const how_much = k.below(drawn++, copy.size() + 50);
            if (k.below(drawn++, 2))
                copy.resize(how_much);
            else
                copy[how_much % 24] ^= std::byte(1 + k.below(drawn++, 255));
            bool const changed = copy.size() != packet.size() || copy[4] != packet[4] || copy[0] != packet[0];
            if (changed || copy.size() < 32)
                all.nodes[std::size_t(to)].take(0, from, copy, [](int, std::span<std::byte const>) {});
        });
        REQUIRE(all.network.run(5));
        for (auto const& each : y) CHECK(same(each, sum));
    }
}

TEST_CASE("a switch drops what comes before it starts") {
    switch_layout const how{.d = 3, .workers = 1};
    switch_machine<float> worker(how, 0), pool(how, 1);
    std::vector<float> x{1, 2, 3};
    std::vector<std::byte> hello;
    std::size_t replies = 0;
    auto const count = [&](int, std::span<std::byte const>) { ++replies; };
    worker.begin(x, 1);
    worker.start(0, [&](int, std::span<std::byte const> p) { hello.assign(p.begin(), p.end()); });
    CHECK(!pool.take(0, 0, hello, count));
    pool.begin(1);
    CHECK(!pool.take(0, 0, hello, count));
    CHECK(replies == 0);
    pool.start(0, count);
    CHECK(pool.take(0, 0, hello, count));
    CHECK(replies == 1);
    pool.begin(2);
    CHECK(!pool.take(0, 0, hello, count));
    CHECK(replies == 1);
}
