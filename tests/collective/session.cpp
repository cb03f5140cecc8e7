// SPDX-License-Identifier: Apache-2.0
// A `session` passes messages between pairs, and all its ranks throw the least of all ranks' errors.
#include "laconic/collective/session.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"
#include "support/sparse_vectors.hpp"

constexpr int ranks = 4;

// The sum of what the ranks send, a byte each.
struct question {
    detail::failure own;
    wire::bit_writer sink;
    detail::broken_round broken;

    template <class C, class Also>
    int operator()(C& comm, Also also) {
        sink.clear();
        sink.put(std::uint64_t(comm.rank() + 1), 8);
        comm.gather(0, own ? own.sent(sink) : payload{sink.finish()});
        auto const answer = [&] {
            int sum = 0;
            for (int r = 0; r < comm.size(); ++r) sum += std::to_integer<int>(comm.from(r).bytes[0]);
            also();
            sink.clear();
            sink.put(std::uint64_t(sum), 16);
            return sink.finish();
        };
        wire::bit_reader source(detail::answer_of_rank_0(comm, sink, broken, answer));
        return int(source.take(16));
    }
};
constexpr auto nothing_else = [] {};

TEST_CASE("shared_failure: the least of all ranks' failures is on all, and of none of them nothing") {
    for (int const first : {0, 1, 3}) {
        threads::run(3, [&](threads::member& comm) {
            detail::failure mine;
            wire::bit_writer sink;
            std::byte const bytes[2]{};
            if (comm.rank() >= first)
                mine = detail::failure::no_message("from " + std::to_string(comm.rank())).by(comm.rank(), 4);
            auto const least = detail::share_failure(comm, mine, sink, bytes);
            CHECK(least == (first == 3 ? detail::failure()
                                       : detail::failure::no_message("from " + std::to_string(first)).by(first, 4)));
            for (int r = 0; r < first; ++r) CHECK(comm.from(r).bytes.size() == 2);
        });
    }
}

TEST_CASE(
    "shared_failure: messages that all ranks leave out are no error; else another reason is raised, or the first") {
    struct part {
        detail::failure value;
        bool is_error = true;
    };
    auto const raised_with = [](std::vector<part> const& parts) {
        std::vector<std::string> errors(3);
        threads::run(3, [&](threads::member& comm) {
            auto const me = static_cast<std::size_t>(comm.rank());
            wire::bit_writer sink;
            auto value = parts[me].value;
            comm.all_gather({std::move(value).by(comm.rank(), 4).sent(sink).bytes, parts[me].is_error});
            auto const text_of = [&](auto raise) {
                try {
                    raise();
                } catch (compression_error const& e) {
                    return std::string(e.what());
                }
                return std::string("nothing");
            };
            errors[me] = text_of([&] { detail::raise_unless_left_out(comm); });
            if (errors[me] != "nothing") CHECK(errors[me] == text_of([&] { detail::least_failure(comm).raise(); }));
        });
        for (auto const& text : errors) CHECK(text == errors[0]);
        return errors[0];
    };
    part const out{detail::failure::left_out("a")}, other{detail::failure::no_message("b")},
        message{detail::failure::left_out("a"), false};
    CHECK(raised_with({out, out, out}) == "nothing");
    CHECK(raised_with({out, out, other}) == "rank 2, round 4: b");
    CHECK(raised_with({out, message, out}) == "rank 0, round 4: a");
    CHECK(raised_with({message, out, out}) == "rank 1, round 4: a");
}

TEST_CASE("shared_failure: all ranks have rank 0's answer, and what travels is counted") {
    threads::run(ranks, [](threads::member& comm) {
        metered wire(comm);
        question q;
        CHECK(q(wire, nothing_else) == 1 + 2 + 3 + 4);
        CHECK(wire.bytes_sent() == 1);
        CHECK(wire.bytes_gathered() == (comm.rank() == 0 ? 3 : 0));
        CHECK(wire.bytes_broadcast() == (comm.rank() == 0 ? 2 : 0));
        CHECK_THROWS_AS(q.broken.require_consistent(comm.rank(), 7), comm_error);  // until the caller has used it
    });
}

TEST_CASE("shared_failure: the least failure that comes to rank 0 is thrown by all, and the next answer comes") {
    fibers::run(ranks, [](fibers::member& comm) {
        question q;
        if (comm.rank() >= 2) q.own = detail::failure::not_finite(std::size_t(comm.rank())).by(comm.rank(), 7);
        CHECK_THROWS_WITH_AS(q(comm, nothing_else), non_finite_error(2, 7, 2).what(), non_finite_error);
        q.broken.require_consistent(comm.rank(), 7);
        if (comm.rank() == 0) q.own = detail::failure::no_message("tired").by(0, 7);
        CHECK_THROWS_WITH_AS(q(comm, nothing_else), compression_error(0, 7, "tired").what(), compression_error);
        q.own = {};
        CHECK(q(comm, nothing_else) == 10);
    });
}

TEST_CASE("shared_failure: what rank 0 finds is wrong is thrown by all, about the rank that it names") {
    fibers::run(ranks, [](fibers::member& comm) {
        question q;
        CHECK_THROWS_WITH_AS(q(comm, [] { throw std::runtime_error("full"); }), "rank 0 failed: full", comm_error);
        q.broken.require_consistent(comm.rank(), 7);
        CHECK_THROWS_WITH_AS(q(comm, [] { detail::failure::not_finite(5).by(3, 7).raise(); }),
                             non_finite_error(3, 7, 5).what(), non_finite_error);
        CHECK_THROWS_WITH_AS(q(comm, [] { detail::failure::unreadable(2, 8, "bad").raise(); }),
                             "at bit 8 of a message: from rank 2: bad", wire_error);
    });
}

namespace sv = sparse_vectors;

// All ranks send a number to all, round the ring; what each has received, in its order.
template <class C>
std::vector<std::uint64_t> go_round(session& schedule, C& comm, std::uint64_t mine) {
    int const n = comm.size(), next = (comm.rank() + 1) % n, last = (comm.rank() + n - 1) % n;
    std::vector<std::uint64_t> received{mine};
    for (int step = 1; step < n; ++step)
        schedule.exchange(
            comm, next, [&](wire::bit_writer& sink) { sink.put(received.back(), 16); }, last,
            [&](wire::bit_reader& source) { received.push_back(source.take(16)); });
    return received;
}

sparse_sum<float> const fine = sv::of<float>(9, {{3, 1}, {4, 2}}), infinite = sv::of<float>(9, {{3, 1}, {4, INFINITY}});

TEST_CASE("what is sent is received") {
    threads::run(4, [](auto& comm) {
        session schedule;
        for (std::uint64_t round = 0; round < 3; ++round) {
            schedule.start(round);
            auto const r = std::uint64_t(comm.rank());
            CHECK(go_round(schedule, comm, r + round) ==
                  std::vector<std::uint64_t>{r + round, (r + 3) % 4 + round, (r + 2) % 4 + round, (r + 1) % 4 + round});
            CHECK(!schedule.failed());
            schedule.finish();
        }
    });
}

TEST_CASE("of all errors the least is thrown on all ranks, each kind with its type and place") {
    host on;
    auto const thrown = [&](auto fail) {
        std::array<std::string, 5> texts;
        threads::run(5, [&](auto& comm) {
            session schedule;
            schedule.start(6);
            fail(schedule, comm.rank());
            go_round(schedule, comm, 1);
            try {
                schedule.finish();
            } catch (non_finite_error const& e) {
                texts[std::size_t(comm.rank())] = "non_finite " + std::to_string(e.rank) + " " +
                                                  std::to_string(e.round) + " " + std::to_string(e.coordinate);
            } catch (shape_error const& e) {
                texts[std::size_t(comm.rank())] = std::string("shape ") + e.what();
            } catch (error const& e) {
                texts[std::size_t(comm.rank())] = e.what();
            }
        });
        for (auto const& t : texts) CHECK(t == texts[0]);
        return texts[0];
    };
    CHECK(thrown([&](auto& schedule, int r) { schedule.check_input(on, r, fine, 9); }) == "");
    CHECK(thrown([&](auto& schedule, int r) { schedule.check_input(on, r, r == 3 ? infinite : fine, 9); }) ==
          "non_finite 3 6 4");
    CHECK(thrown([&](auto& schedule, int r) {
              double const x[] = {1, r == 1 || r == 4 ? NAN : 2, 3};
              schedule.check_input(on, r, std::span<double const>(x), 3);
          }) == "non_finite 1 6 1");
    CHECK(thrown([&](auto& schedule, int r) { schedule.check_input(on, r, fine, r == 2 ? 8 : 9); }) ==
          "shape rank 2 has a vector of 9 numbers, the collective is for 8");
    CHECK(thrown([&](auto& schedule, int r) {
              double const x[] = {1, 2};
              schedule.check_input(on, r, std::span<double const>(x), r < 3 ? 2 : 1);
          }) == "shape rank 3 has a vector of 2 numbers, the collective is for 1");
    CHECK(thrown([&](auto& schedule, int r) {
              schedule.check_sum(on, r == 3 ? infinite : fine, [](auto i) { return i + 100; });
          }) == "non_finite -2 6 104");
    CHECK(thrown([&](auto& schedule, int r) {  // what is brought comes before what is made of it
              double const x[] = {1, NAN};
              if (r == 0) schedule.check_sum(on, std::span<double const>(x), 10);
              if (r == 3) schedule.check_input(on, r, infinite, 9);
          }) == "non_finite 3 6 4");
}

TEST_CASE("a failed session writes nothing and reads nothing") {
    threads::run(3, [](auto& comm) {
        host on;
        session schedule;
        schedule.start(0);
        if (comm.rank() == 1) schedule.check_input(on, 1, infinite, 9);
        auto const received = go_round(schedule, comm, 5).size();
        CHECK(received == (comm.rank() == 1 ? 1u : comm.rank() == 2 ? 1u : 2u));
        CHECK(schedule.failed());
        schedule.start(1);
        CHECK(!schedule.failed());
    });
}

TEST_CASE("bytes that are no message, and error frames that are none") {
    auto const after = [](payload sent) {
        std::string text;
        threads::run(2, [&](auto& comm) {
            if (comm.rank() == 1) {
                comm.exchange(0, sent, no_rank);
                return;
            }
            session schedule;
            schedule.start(0);
            std::uint64_t received = 0;
            schedule.receive(comm, 1, [&](wire::bit_reader& source) { received = source.take(16); });
            try {
                schedule.finish();
                text = std::to_string(received);
            } catch (wire_error const& e) {
                text = std::to_string(e.bit) + " " + e.why;
            }
        });
        return text;
    };
    std::byte const two[] = {std::byte(3), std::byte(1)};
    std::array<std::byte, 24> nine{};
    nine[0] = std::byte(9);
    CHECK(after({two}) == "259");
    CHECK(after({std::span(two).first(1)}) == "0 from rank 1: it ends 8 bits too early");
    CHECK(after({nine}) == "16 from rank 1: 176 bits are left over");
    CHECK(after({two, true}) == "0 from rank 1: an unreadable error frame");
    CHECK(after({nine, true}) == "0 from rank 1: an unreadable error frame");
    nine[0] = std::byte(0);
    CHECK(after({nine, true}) == "0 from rank 1: an unreadable error frame");
}

TEST_CASE("the encoding of coordinates is the one that was asked for") {
    threads::run(1, [](auto& comm) {
        for (auto const how : {position_code::smallest, position_code::fastest}) {
            session schedule(how);
            schedule.start(0);
            schedule.exchange(
                comm, 0,
                [&](wire::bit_writer& sink) {
                    CHECK(sink.positions_as() == how);
                    sink.put(1, 8);
                },
                0, [&](wire::bit_reader& source) { CHECK(source.take(8) == 1); });
        }
    });
}

TEST_CASE("share_failure makes an error of one rank known to all, and sends nothing in a good round") {
    host on;
    auto const errors = sv::errors_on(4, [&](auto& inner) {
        metered comm(inner);
        session schedule;
        schedule.start(1);
        schedule.share_failure(comm);
        schedule.finish();
        CHECK(comm.bytes_received() == 0);
        schedule.start(2);
        if (comm.rank() > 1) schedule.check_input(on, comm.rank(), infinite, 9);
        schedule.share_failure(comm);
        schedule.finish();
    });
    CHECK(errors == std::vector<std::string>(4, "rank 2, round 2: the gradient is not finite at coordinate 4"));
}

TEST_CASE("a rank gives up, and all ranks throw its reason") {
    std::array<std::string, 3> errors;
    threads::run(3, [&](auto& comm) {
        session schedule;
        schedule.start(5);
        if (comm.rank() == 1) schedule.give_up(1, "no words for it");
        CHECK(schedule.failed() == (comm.rank() == 1));
        go_round(schedule, comm, 1);
        try {
            schedule.finish();
        } catch (compression_error const& e) {
            errors[std::size_t(comm.rank())] = e.what();
        }
    });
    for (auto const& text : errors) CHECK(text == "rank 1, round 5: no words for it");
}
