// SPDX-License-Identifier: Apache-2.0
// Rank 0 answers all ranks from what they send, and what is wrong on any rank is thrown by all.
#include "laconic/transport/asked_rank.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

#include "laconic/comm/metered.hpp"
#include "laconic/comm/threads.hpp"

using namespace laconic;

namespace tests_of_asked_rank {

constexpr int ranks = 4;

// The sum of what the ranks send, a byte each.
struct question {
    asked_rank ask;
    error_frame frame;
    detail::broken_round broken;

    template <class C, class Also>
    int operator()(C& comm, Also also) {
        std::vector<std::byte> const mine{std::byte(comm.rank() + 1)};
        auto const answer = ask(comm, 7, mine, frame, broken, [&](bit_writer& sink, int& rank) {
            int sum = 0;
            for (int r = 0; r < comm.size(); ++r) sum += std::to_integer<int>(comm.from(r).bytes[0]);
            also(rank, frame);
            sink.put(std::uint64_t(sum), 16);
        });
        bit_reader source(answer);
        return int(source.take(16));
    }
};
constexpr auto nothing_else = [](int&, error_frame&) {};

}  // namespace tests_of_asked_rank

TEST_CASE("asked_rank: all ranks have the answer, and what travels is counted") {
    using namespace tests_of_asked_rank;
    threads::run(ranks, [](threads::member& comm) {
        metered wire(comm);
        question q;
        CHECK(q(wire, nothing_else) == 1 + 2 + 3 + 4);
        CHECK(wire.bytes_sent() == 1);
        CHECK(wire.bytes_gathered() == (comm.rank() == 0 ? 3 : 0));
        CHECK(wire.bytes_broadcast() == (comm.rank() == 0 ? 2 : 0));
        CHECK_THROWS_AS(q.broken.require_whole(comm.rank(), 7), comm_error);  // until the caller has used it
    });
}

TEST_CASE("asked_rank: the frame of the first rank that has one is thrown by all") {
    using namespace tests_of_asked_rank;
    threads::run(ranks, [](threads::member& comm) {
        question q;
        if (comm.rank() >= 2) q.frame.not_finite(std::size_t(comm.rank()));
        CHECK_THROWS_WITH_AS(q(comm, nothing_else), non_finite_error(2, 7, 2).what(), non_finite_error);
        q.broken.require_whole(comm.rank(), 7);
        q.frame.clear();
        if (comm.rank() == 0) q.frame.because("tired");
        CHECK_THROWS_WITH_AS(q(comm, nothing_else), compression_error(0, 7, "tired").what(), compression_error);
        q.frame.clear();
        CHECK(q(comm, nothing_else) == 10);
    });
}

TEST_CASE("asked_rank: what rank 0 finds is wrong names the rank that it says") {
    using namespace tests_of_asked_rank;
    threads::run(ranks, [](threads::member& comm) {
        question q;
        CHECK_THROWS_WITH_AS(q(comm, [](int&, error_frame&) { throw std::runtime_error("full"); }),
                             compression_error(0, 7, "full").what(), compression_error);
        q.frame.clear();
        auto const because_of_3 = [](int& rank, error_frame& frame) { rank = 3, frame.not_finite(5); };
        CHECK_THROWS_WITH_AS(q(comm, because_of_3), non_finite_error(3, 7, 5).what(), non_finite_error);
    });
}
