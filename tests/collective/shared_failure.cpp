// SPDX-License-Identifier: Apache-2.0
// A failure of any rank is known to all: after an all-gather, and where rank 0 answers.
#include "laconic/collective/shared_failure.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"

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
