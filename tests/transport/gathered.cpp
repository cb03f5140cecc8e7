// SPDX-License-Identifier: Apache-2.0
// `gathered` messages travel in lanes beside each other and lead to the mean of shifts and messages.
#include "laconic/transport/gathered.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"
#include "support/toys.hpp"

using namespace toys;

vec random_vector(std::size_t d, std::uint64_t seed) {
    vec x(d);
    for (std::size_t j = 0; j < d; ++j) x[j] = key{seed}.uniform(j) - .5;
    return x;
}

// A round over a collective with messages of c.
template <class Gathered, class Comm, class M, class Blank>
void gather_round(Gathered& by, Comm& comm, M const& mine, detail::failure const& own, Blank blank,
                  std::span<double> mean) {
    host on;
    memory<> const feedback;
    round_context now;
    now.round = 6;
    by.send(on, comm, now, mine, own);
    by.receive(on, comm, now, mine, own, blank, feedback, mean);
}

// One collective in which rank 0 receives itself, the bytes given, and itself again.
template <class C>
vec heard_by_rank_0(C const& c, std::size_t d, std::span<std::byte const> bytes) {
    host on;
    detail::message_of<C> mine;
    c(on, std::span<double const>(random_vector(d, 3)), key{0}, mine);
    wire::bit_writer own;
    write(own, mine);
    auto const same = own.finish();
    table all{{{}, {bytes}, {same}}, {}, false};
    replayed_rank air{&all};
    gathered<detail::message_of<C>, double> collective({}, d, position_code::smallest);
    vec out(d, 77);
    gather_round(
        collective, air, mine, {}, [&](auto&, int, auto& m) { c.blank(on, d, key{0}, m); }, out);
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
        vec expected(d);
        host on;
        for (int r = 0; r < n; ++r) {  // in the order of ranks, each with the weight 1/n
            detail::message_of<C> m;
            c(on, std::span<double const>(random_vector(d, std::uint64_t(r))), key{9}.child(std::uint64_t(r)), m);
            add_message(on, std::span<double>(expected), 1. / n, m);
        }
        std::vector<vec> means(static_cast<std::size_t>(n), random_vector(d, 100));  // which is overwritten
        threads::run(n, [&](threads::member& comm) {
            host mine_on;
            gathered<detail::message_of<C>, double> collective({}, d, position_code::smallest);
            detail::message_of<C> mine;
            auto const from = [](int r) { return key{9}.child(std::uint64_t(r)); };
            for (int again = 0; again < 2; ++again) {
                c(mine_on, std::span<double const>(random_vector(d, std::uint64_t(comm.rank()))), from(comm.rank()),
                  mine);
                gather_round(
                    collective, comm, mine, {}, [&](auto&, int r, auto& m) { c.blank(mine_on, d, from(r), m); },
                    means[std::size_t(comm.rank())]);
            }
        });
        for (auto const& m : means) CHECK(m == expected);
    }
}

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
    auto const mean_of_four = [&](double a, double b, double c, double d) {  // a quarter of each is exact
        std::vector<messages::full_vector<double, host>> sent{{{a}}, {{b}}, {{c}}, {{d}}};
        std::vector<wire::bit_writer> sinks(4);
        table all{{{}, {}, {}, {}}, {}, false};
        replayed_rank air{&all};
        for (std::size_t r = 1; r < 4; ++r) {
            write(sinks[r], sent[r]);
            all.sent[r] = {sinks[r].finish()};
        }
        gathered<messages::full_vector<double, host>, double> collective({}, 1, position_code::smallest);
        vec out(1);
        gather_round(
            collective, air, sent[0], {}, [](auto&, int, auto& m) { m.values.resize(1); }, out);
        return out[0];
    };
    CHECK(mean_of_four(4e16, -4e16, 4, 0) == 1);
    CHECK(mean_of_four(4, 4e16, -4e16, 0) == 0);
}

TEST_CASE("what is sent is what the message counts, in whole bytes") {
    std::vector<std::uint64_t> sent(2), received(2), counted_bits(2);
    threads::run(2, [&](threads::member& inner) {
        metered comm(inner);
        auto const c = top_k{3} | quantize{3};
        host on;
        detail::message_of<decltype(c)> mine;
        c(on, std::span<double const>(random_vector(100, 1)), key{1}, mine);
        gathered<detail::message_of<decltype(c)>, double> collective({}, 100, position_code::smallest);
        vec out(100);
        gather_round(
            collective, comm, mine, {}, [&](auto&, int, auto& m) { c.blank(on, 100, key{1}, m); }, out);
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
    for (std::uint64_t seed = 0; seed < 600; ++seed) {
        std::vector<std::byte> noise(key{seed}.below(0, 24));
        for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = std::byte(key{seed}.word(4 + i) & 0xff);
        for (auto const& why : {refusal(top_k{2} | natural{}, 6, noise), refusal(threshold{.2}, 6, noise),
                                refusal(rand_k{2} | quantize{3}, 6, noise)}) {
            (why == "accepted" ? accepted : refused) += 1;
            if (why != "accepted") CHECK(by_rank_1(why));
        }
    }
    CHECK(refused > 1500);
    CHECK(accepted > 0);
}

TEST_CASE("every rank throws the first failure, before anything is decoded") {
    std::vector<std::string> errors(4);
    threads::run(4, [&](threads::member& comm) {
        gathered<messages::full_vector<double, host>, double> collective({}, 2, position_code::smallest);
        detail::failure own;
        if (comm.rank() % 2 == 1)
            own = detail::failure::no_message(std::string(std::size_t(comm.rank()), 'x')).by(comm.rank(), 6);
        bool decoded = false;
        vec out(2);
        auto const blank = [&](auto&, int, auto& m) {
            decoded = true;
            m.values.resize(2);
        };
        auto& text = errors[std::size_t(comm.rank())];
        try {
            gather_round(collective, comm, messages::full_vector<double, host>{{1, 2}}, own, blank, out);
        } catch (compression_error const& e) {
            text = e.what();
        }
        if (decoded) text += ", and a message was decoded";
        gather_round(collective, comm, messages::full_vector<double, host>{{1, 2}}, {}, blank, out);  // goes on
        CHECK(out == vec{1, 2});
    });
    for (auto const& text : errors) CHECK(text == "rank 1, round 6: x");
}

TEST_CASE("messages that are gathered travel beside others, and lead to the mean of shifts and messages") {
    fibers::run(3, [](fibers::member& comm) {
        host on;
        using message = detail::message_of<top_k<>, double, host>;
        gathered<message, double> first({}, 4, position_code::smallest), second({}, 4, position_code::smallest);
        CHECK_FALSE(first.travels_alone(comm));
        std::vector<double> x(4, 0.5), mean(4), other(4);
        x[std::size_t(comm.rank())] = 3;
        top_k const c{1};
        message mine;
        c(on, std::span<double const>(x), key{}, mine);
        detail::failure const own;
        memory<> feedback(1, 0);
        feedback.start(4);
        auto const blank = [&](auto& there, int, auto& m) { c.blank(there, 4, key{}, m); };
        first.send(on, comm, round_context{}, mine, own, 0);
        second.send(on, comm, round_context{}, mine, own, 1);
        first.receive(on, comm, round_context{}, mine, own, blank, feedback, std::span(mean), 0);
        second.receive(on, comm, round_context{}, mine, own, blank, feedback, std::span(other), 1);
        CHECK(mean == std::vector<double>{1, 1, 1, 0});
        CHECK(other == mean);
        feedback.update(on, std::span<double const>(x), mine);
        first.reconstruct(on, comm, round_context{}, feedback, std::span(mean));
        CHECK(mean == other);  // the mean shift was 0
        first.reconstruct(on, comm, round_context{}, feedback, std::span(mean));
        CHECK(mean == std::vector<double>{2, 2, 2, 0});
    });
}

TEST_CASE("what is gathered, and what is not") {
    CHECK(detail::is_gathered(gather_all{}));
    CHECK(detail::is_gathered(any_transport<>{}));
    CHECK_FALSE(detail::is_gathered(ring{}));
    CHECK_FALSE(detail::is_gathered(any_transport<>(ring{})));
    CHECK_FALSE(detail::is_gathered(served<identity>{}));
}
