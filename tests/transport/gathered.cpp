// SPDX-License-Identifier: Apache-2.0
// `gathered` messages travel in lanes beside each other and lead to the mean of shifts and messages.
#include "laconic/transport/gathered.hpp"

#include <mutex>

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"
#include "support/passed_on.hpp"
#include "support/toys.hpp"

// Counts the numbers that are added to a vector.
struct counting_host : host {
    std::size_t added = 0;
};
template <Scalar T, class Terms>
void add_terms(counting_host& on, std::span<T> out, T w, Terms terms) {
    on.added += terms.size();
    add_terms(static_cast<host&>(on), out, w, terms);
}
template <Scalar T>
void add_scaled(counting_host& on, T w, std::span<T const> x, std::span<T> out) {
    on.added += x.size();
    add_scaled(static_cast<host&>(on), w, x, out);
}

// An engine that hides where its ranks are.
template <class C>
using anywhere = passed_on<C>;
// An engine that damages what some ranks hand over.
struct damaging : threads::member {
    std::vector<std::byte> copy{};
    void (*damage)(int rank, std::vector<std::byte>&) = nullptr;

    void all_gather(payload mine) {
        copy.assign(mine.bytes.begin(), mine.bytes.end());
        damage(rank(), copy);
        threads::member::all_gather({copy, mine.is_error});
    }
    void start_all_gather(payload mine, int = 0) { all_gather(mine); }
    void finish(int = 0) {}
};

template <class T>
std::vector<T> numbers(std::size_t d, int rank) {
    std::vector<T> x(d);
    for (std::size_t i = 0; i < d; ++i) x[i] = T(key{3}.child(std::uint64_t(rank)).uniform(i) - .5);
    return x;
}

struct cost {
    std::size_t added = 0;
    std::uint64_t sent = 0, received = 0;
};
// What a rank of n has after two rounds, over a communicator that wrap(engine) makes.
template <class T, class Compressor, class Wrap>
std::vector<T> mean_of(int n, std::size_t d, Compressor const& c, Wrap wrap, cost& of_a_rank) {
    std::vector<std::vector<T>> means(std::size_t(n), std::vector<T>(d, T(0.25)));
    std::mutex one_at_a_time;
    threads::run(n, [&](threads::member& engine) {
        auto&& inner = wrap(engine);
        metered comm(inner);
        counting_host on;
        detail::gathered<detail::message_of<Compressor, T, counting_host>, T, counting_host> collective(
            {}, d, position_code::smallest);
        detail::message_of<Compressor, T, counting_host> mine;
        auto& mean = means[std::size_t(comm.rank())];
        auto const x = numbers<T>(d, comm.rank());
        for (int again = 0; again < 2; ++again) {
            c(on, std::span<T const>(x), key{}, mine);
            collective.send(on, comm, {}, mine, {});
            collective.receive(
                on, comm, {}, mine, {}, [&](auto& there, int, auto& m) { return c.blank(there, d, key{}, m), c; },
                nullptr, std::span<T>(mean));
        }
        std::lock_guard lock(one_at_a_time);
        of_a_rank.added = std::max(of_a_rank.added, on.added);
        of_a_rank.sent = std::max(of_a_rank.sent, comm.bytes_sent());
        of_a_rank.received = std::max(of_a_rank.received, comm.bytes_received());
    });
    for (auto const& each : means) CHECK(each == means[0]);
    return means[0];
}

auto const the_engine = [](threads::member& engine) -> threads::member& { return engine; };
auto const as_any_engine = [](threads::member& engine) { return anywhere<threads::member>{&engine}; };

template <class T>
void is_shared(int n, std::size_t d) {
    CAPTURE(n);
    cost shared, alone, any;
    auto const mean = mean_of<T>(n, d, identity{}, the_engine, shared);
    CHECK(mean == mean_of<T>(n, d, identity{}, as_any_engine, alone));
    auto const faces = [](threads::member& engine) { return any_communicator(engine); };
    CHECK(mean == mean_of<T>(n, d, any_compressor<T, counting_host>(identity{}), faces, any));
    // In two rounds; the parts of the ranks differ by one number.
    CHECK(alone.added == 2 * std::size_t(n) * d);
    CHECK(shared.added <= 2 * std::size_t(n) * (d / std::size_t(n) + 1));
    CHECK(any.added == shared.added);
    for (auto const& c : {shared, alone, any}) {
        CHECK(c.sent == 2 * d * sizeof(T));
        CHECK(c.received == 2 * d * sizeof(T) * std::size_t(n - 1));
    }
}

TEST_CASE("in one process a rank adds up its part of full vectors: the same bits, and the same bytes counted") {
    is_shared<double>(2, 70001);
    is_shared<float>(3, 33333);
    is_shared<double>(8, 20011);
    static_assert(detail::OneProcess<threads::member&> && detail::OneProcess<fibers::member> &&
                  detail::OneProcess<any_communicator>);
    static_assert(!detail::OneProcess<anywhere<threads::member>> && !detail::OneProcess<metered<threads::member>>);
}

TEST_CASE("short vectors, one rank and messages of other kinds are read by all") {
    cost c;
    mean_of<double>(3, 100, identity{}, the_engine, c);
    CHECK(c.added == 2 * 300);
    mean_of<double>(1, 70000, identity{}, the_engine, c = {});
    CHECK(c.added == 2 * 70000);
}

TEST_CASE("damage is the same error on all ranks as where each reads everything") {
    std::size_t const d = 40000;
    auto const errors_after = [&](auto damage, bool share) {
        std::vector<std::string> all(3, "none");
        threads::run(3, [&](threads::member& engine) {
            damaging inner{engine};
            inner.damage = damage;
            anywhere<damaging> elsewhere{&inner};
            host on;
            auto const x = numbers<double>(d, inner.rank());
            std::vector<double> mean(d);
            try {
                detail::gathered<messages::full_vector<double, host>, double> collective({}, d,
                                                                                         position_code::smallest);
                messages::full_vector<double, host> const mine{{x.begin(), x.end()}};
                auto const run = [&](auto& comm) {
                    collective.send(on, comm, {}, mine, {});
                    collective.receive(
                        on, comm, {}, mine, {}, [&](auto&, int, auto& m) { return m.values.resize(d), identity{}; },
                        nullptr, std::span<double>(mean));
                };
                share ? run(inner) : run(elsewhere);
            } catch (wire_error const& e) {
                all[std::size_t(inner.rank())] = e.what();
            }
        });
        CHECK(all == std::vector(3, all[0]));
        return all[0];
    };
    static constexpr auto no_number = [](std::vector<std::byte>& bytes, std::size_t i) {
        double const nan = std::numeric_limits<double>::quiet_NaN();
        std::memcpy(bytes.data() + 8 * i, &nan, 8);
    };
    auto const same = [&](auto damage) {
        auto const text = errors_after(damage, true);
        CHECK(text == errors_after(damage, false));
        return text;
    };
    auto const one = same([](int r, std::vector<std::byte>& b) {
        if (r == 2) no_number(b, 7);
    });
    CHECK(one.find("from rank 2: a number that is not finite") != std::string::npos);
    // Several, which different ranks read: the first rank's first.
    auto const many = same([](int r, std::vector<std::byte>& b) {
        if (r == 2) no_number(b, 7);
        if (r == 1) no_number(b, 39999), no_number(b, 20000);
    });
    CHECK(many.find("from rank 1: ") != std::string::npos);
    CHECK(many.find(std::to_string(20001 * 64)) != std::string::npos);
    CHECK(same([](int r, std::vector<std::byte>& b) {
              if (r == 1) b.pop_back();
          }).find("from rank 1: ") != std::string::npos);
}

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
    detail::gathered<detail::message_of<C>, double> collective({}, d, position_code::smallest);
    vec out(d, 77);
    gather_round(
        collective, air, mine, {}, [&](auto&, int, auto& m) { return c.blank(on, d, key{0}, m), c; }, out);
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
            detail::gathered<detail::message_of<C>, double> collective({}, d, position_code::smallest);
            detail::message_of<C> mine;
            auto const from = [](int r) { return key{9}.child(std::uint64_t(r)); };
            for (int again = 0; again < 2; ++again) {
                c(mine_on, std::span<double const>(random_vector(d, std::uint64_t(comm.rank()))), from(comm.rank()),
                  mine);
                gather_round(
                    collective, comm, mine, {},
                    [&](auto&, int r, auto& m) { return c.blank(mine_on, d, from(r), m), c; },
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
        detail::gathered<messages::full_vector<double, host>, double> collective({}, 1, position_code::smallest);
        vec out(1);
        gather_round(
            collective, air, sent[0], {}, [](auto&, int, auto& m) { return m.values.resize(1), identity{}; }, out);
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
        detail::gathered<detail::message_of<decltype(c)>, double> collective({}, 100, position_code::smallest);
        vec out(100);
        gather_round(
            collective, comm, mine, {}, [&](auto&, int, auto& m) { return c.blank(on, 100, key{1}, m), c; }, out);
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
        detail::gathered<messages::full_vector<double, host>, double> collective({}, 2, position_code::smallest);
        detail::failure own;
        if (comm.rank() % 2 == 1)
            own = detail::failure::no_message(std::string(std::size_t(comm.rank()), 'x')).by(comm.rank(), 6);
        bool decoded = false;
        vec out(2);
        auto const blank = [&](auto&, int, auto& m) {
            decoded = true;
            return m.values.resize(2), identity{};
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
        detail::gathered<message, double> first({}, 4, position_code::smallest), second({}, 4, position_code::smallest);
        CHECK_FALSE(first.travels_alone(comm));
        std::vector<double> x(4, 0.5), mean(4), other(4);
        x[std::size_t(comm.rank())] = 3;
        top_k const c{1};
        message mine;
        c(on, std::span<double const>(x), key{}, mine);
        detail::failure const own;
        memory<> feedback(1, 0);
        feedback.start(4);
        auto const blank = [&](auto& there, int, auto& m) { return c.blank(there, 4, key{}, m), c; };
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
