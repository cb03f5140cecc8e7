// SPDX-License-Identifier: Apache-2.0
#include "laconic/transport/by_gather.hpp"

#include <doctest/doctest.h>

#include "laconic/any/compressor.hpp"
#include "laconic/comm/metered.hpp"
#include "laconic/comm/threads.hpp"
#include "laconic/compress/natural.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/threshold.hpp"
#include "laconic/compress/top_k.hpp"
#include "toys.hpp"

using namespace laconic;
using namespace toys;

namespace {

vec random_vector(std::size_t d, std::uint64_t seed) {
    vec x(d);
    for (std::size_t j = 0; j < d; ++j) x[j] = key{seed}.uniform(j) - .5;
    return x;
}

constexpr auto ignore_errors = [](int, std::span<std::byte const>) {};

// One collective in which rank 0 receives itself, the bytes given, and itself again.
template <class C>
vec heard_by_rank_0(C const& c, std::size_t d, std::span<std::byte const> bytes) {
    host on;
    message_of<C> mine;
    c(on, std::span<double const>(random_vector(d, 3)), key{0}, mine);
    bit_writer own;
    write(own, mine);
    auto const same = own.finish();
    table all{{{}, {bytes}, {same}}, {}, false};
    replay air{&all};
    by_gather<message_of<C>, double> collective;
    vec out(d);
    collective.send(on, air, mine, d);
    collective.receive(
        on, air, [&](auto&, int, auto& m) { c.blank(on, d, key{0}, m); }, ignore_errors, std::span<double>(out));
    return out;
}

template <class C>
std::string refusal(C const& c, std::size_t d, std::vector<std::byte> const& bytes) {
    try {
        heard_by_rank_0(c, d, bytes);
    } catch (wire_error const& e) {
        return e.why;
    }
    return "accepted";
}

template <class C>
void same_mean_on_all_ranks(C const& c) {
    CAPTURE(to_string(c));
    for (int const n : {1, 2, 5, 7}) {
        std::size_t const d = 23;
        auto const there = random_vector(d, 100);
        vec expected = there;
        host on;
        for (int r = 0; r < n; ++r) {  // in the order of ranks, each with the weight 1/n
            message_of<C> m;
            c(on, std::span<double const>(random_vector(d, std::uint64_t(r))), key{9}.child(std::uint64_t(r)), m);
            add_message(on, std::span<double>(expected), 1. / n, m);
        }
        std::vector<vec> means(static_cast<std::size_t>(n), there);
        threads::run(n, [&](threads::member& comm) {
            host mine_on;
            by_gather<message_of<C>, double> collective;
            message_of<C> mine;
            auto const from = [](int r) { return key{9}.child(std::uint64_t(r)); };
            for (int again = 0; again < 2; ++again) {
                means[std::size_t(comm.rank())] = there;
                c(mine_on, std::span<double const>(random_vector(d, std::uint64_t(comm.rank()))), from(comm.rank()),
                  mine);
                collective.send(mine_on, comm, mine, d);
                collective.receive(
                    mine_on, comm, [&](auto&, int r, auto& m) { c.blank(mine_on, d, from(r), m); }, ignore_errors,
                    std::span<double>(means[std::size_t(comm.rank())]));
            }
        });
        for (auto const& m : means) CHECK(m == expected);
    }
}

}  // namespace

TEST_CASE("the mean is added in the order of ranks, the same bits everywhere") {
    same_mean_on_all_ranks(identity{});
    same_mean_on_all_ranks(top_k{5});
    same_mean_on_all_ranks(rand_k{5});
    same_mean_on_all_ranks(threshold{.3});
    same_mean_on_all_ranks(quantize{3});
    same_mean_on_all_ranks(top_k{7} | natural{});
    same_mean_on_all_ranks(any_compressor<>(top_k{7} | quantize{3}));
}

TEST_CASE("the order of ranks decides the last bits") {
    host on;
    auto const mean_of_four = [&](double a, double b, double c, double d) {  // a quarter of each is exact
        std::vector<full_vector<double, host>> sent{{{a}}, {{b}}, {{c}}, {{d}}};
        std::vector<bit_writer> sinks(4);
        table all{{{}, {}, {}, {}}, {}, false};
        replay air{&all};
        for (std::size_t r = 1; r < 4; ++r) {
            write(sinks[r], sent[r]);
            all.said[r] = {sinks[r].finish()};
        }
        by_gather<full_vector<double, host>, double> collective;
        vec out(1);
        collective.send(on, air, sent[0], 1);
        collective.receive(
            on, air, [](auto&, int, auto& m) { m.values.resize(1); }, ignore_errors, std::span<double>(out));
        return out[0];
    };
    CHECK(mean_of_four(4e16, -4e16, 4, 0) == 1);
    CHECK(mean_of_four(4, 4e16, -4e16, 0) == 0);
}

TEST_CASE("each message by itself, in the order of ranks") {
    std::vector<std::vector<std::pair<int, double>>> received(3);
    threads::run(3, [&](threads::member& comm) {
        host on;
        by_gather<full_vector<double, host>, double> collective;
        collective.send(on, comm, {{10. * comm.rank()}}, 1);
        collective.receive_each(
            on, comm, [](auto&, int, auto& m) { m.values.resize(1); }, ignore_errors, 1,
            [&](int r, full_vector<double, host> const& m) {
                received[std::size_t(comm.rank())].emplace_back(r, m.values[0]);
            });
    });
    for (auto const& each : received) CHECK(each == std::vector<std::pair<int, double>>{{0, 0}, {1, 10}, {2, 20}});
}

TEST_CASE("what is sent is what the message counts, in whole bytes") {
    std::vector<std::uint64_t> sent(2), received(2), counted_bits(2);
    threads::run(2, [&](threads::member& inner) {
        metered comm(inner);
        auto const c = top_k{3} | quantize{3};
        host on;
        message_of<decltype(c)> mine;
        c(on, std::span<double const>(random_vector(100, 1)), key{1}, mine);
        by_gather<message_of<decltype(c)>, double> collective;
        vec out(100);
        collective.send(on, comm, mine, 100);
        collective.receive(
            on, comm, [&](auto&, int, auto& m) { c.blank(on, 100, key{1}, m); }, ignore_errors, std::span<double>(out));
        auto const me = static_cast<std::size_t>(comm.rank());
        sent[me] = comm.bytes_sent();
        received[me] = comm.bytes_received();
        counted_bits[me] = account(mine).unpadded();
    });
    CHECK(counted_bits[0] == 3 + 3 * 7 + 64 + 3 * 3);
    CHECK(sent == std::vector<std::uint64_t>(2, 13));
    CHECK(received == sent);
}

TEST_CASE("bytes that are no message are refused, with the rank that sent them") {
    auto const bytes = [](std::size_t n, int value) { return std::vector<std::byte>(n, std::byte(value)); };
    auto const by_rank_1 = [](std::string const& why) { return why.starts_with("from rank 1: "); };
    CHECK(refusal(identity{}, 3, bytes(24, 0)) == "accepted");
    CHECK(by_rank_1(refusal(identity{}, 3, bytes(23, 0))));
    CHECK(by_rank_1(refusal(identity{}, 3, bytes(25, 0))));
    CHECK(by_rank_1(refusal(identity{}, 3, bytes(0, 0))));
    CHECK(by_rank_1(refusal(identity{}, 3, bytes(24, 0xff))));  // NaN
    CHECK(by_rank_1(refusal(top_k{2}, 5, bytes(17, 0xff))));
    CHECK(by_rank_1(refusal(top_k{2}, 5, bytes(1000, 0))));
    CHECK(by_rank_1(refusal(threshold{.1}, 5, bytes(1, 0xff))));
    CHECK(by_rank_1(refusal(quantize{3}, 5, bytes(10, 0xff))));
    CHECK(by_rank_1(refusal(natural{}, 5, bytes(8, 0xff))));
    CHECK(by_rank_1(refusal(any_compressor<>(top_k{2}), 5, bytes(3, 0xff))));

    // Any bytes at all give a finite mean or a refusal by name.
    int accepted = 0, refused = 0;
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        std::vector<std::byte> noise(key{seed}.below(0, 24));
        for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = std::byte(key{seed}.word(4 + i) & 0xff);
        for (auto const& why : {refusal(top_k{2} | natural{}, 6, noise), refusal(threshold{.2}, 6, noise),
                                refusal(rand_k{2} | quantize{3}, 6, noise)}) {
            (why == "accepted" ? accepted : refused) += 1;
            if (why != "accepted") CHECK(by_rank_1(why));
        }
    }
    CHECK(refused > 8000);
    CHECK(accepted > 0);
}

TEST_CASE("every rank receives every error frame, before anything is decoded") {
    std::vector<std::vector<std::pair<int, std::size_t>>> received(4);
    threads::run(4, [&](threads::member& comm) {
        auto const me = static_cast<std::size_t>(comm.rank());
        auto const on_error = [&](int r, std::span<std::byte const> bytes) {
            received[me].emplace_back(r, bytes.size());
        };
        using collective_type = by_gather<full_vector<double, host>, double>;
        std::byte const words[3] = {};
        host on;
        collective_type collective;
        vec out(2);
        if (comm.rank() % 2 == 1)
            collective_type::send_error(comm, std::span(words).first(me));
        else
            collective.send(on, comm, full_vector<double, host>{{1, 2}}, 2);
        // The error frame is none of this library's messages, so whoever listens must throw before it is decoded.
        try {
            collective.receive(
                on, comm, [](auto&, int, auto& m) { m.values.resize(2); },
                [&](int r, std::span<std::byte const> bytes) {
                    on_error(r, bytes);
                    if (r == 3) throw error("received enough");
                },
                std::span<double>(out));
        } catch (error const&) {
            received[me].emplace_back(99, 0);
        }
    });
    using list = std::vector<std::pair<int, std::size_t>>;
    CHECK(received[0] == list{{1, 1}, {3, 3}, {99, 0}});
    for (auto const& list_of_one : received) CHECK(list_of_one == received[0]);
}
