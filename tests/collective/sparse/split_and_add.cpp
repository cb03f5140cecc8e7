// SPDX-License-Identifier: Apache-2.0
// `split_and_add` leaves each rank the sum of its part, wherever parts start, and reports where a sum overflows.
#include "laconic/collective/sparse/split_and_add.hpp"

#include "support/everything.hpp"
#include "support/sparse_vectors.hpp"

using namespace laconic;
namespace sv = sparse_vectors;

TEST_CASE("each rank adds up its part, wherever parts start, and receives what stands in front of them") {
    for (int const n : {1, 2, 3, 8}) {
        std::size_t const d = 40;
        auto const ranks = std::size_t(n);
        auto const brought = sv::all_whole_numbers<double>(sv::shape::spread, d, 15, n);
        auto const sum = sv::sum_of(brought);
        detail::regions parts{d};
        parts.prepare(ranks);
        std::vector<std::uint64_t> next(ranks + 1, 35);
        next[1] = 3;
        parts.move(next);  // 0 .. 2, 3 .. 34, 35 .. for the last, and none for those between
        fibers::run(n, [&](auto& comm) {
            host on;
            session schedule;
            schedule.start(0);
            auto const me = std::size_t(comm.rank());
            sparse_sum<double> mine, piece;
            detail::gathered_lists<double> lists;
            std::vector<std::uint64_t> received(ranks, 99);
            detail::split_and_add(
                on, comm, schedule, parts, brought[me], mine, piece, lists,
                [&](wire::bit_writer& sink, std::size_t p) { sink.put(10 * me + p, 7); },
                [&](wire::bit_reader& source, std::size_t r) { received[r] = source.take(7); });
            schedule.finish();
            CHECK(mine.dimension() == parts.length(me));
            auto const x = sv::dense(mine);
            for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[i] == sum[parts.first(me) + i]);
            for (std::size_t r = 0; r < ranks; ++r) CHECK(received[r] == (r == me ? 99 : 10 * r + me));
        });
    }
}

TEST_CASE("a sum that overflows is reported at its coordinate of the whole vector") {
    auto const errors = sv::errors_on(2, [](auto& comm) {
        host on;
        session schedule;
        schedule.start(3);
        detail::partition const parts{10, 2};
        sparse_sum<float> mine, piece;
        detail::gathered_lists<float> lists;
        auto const v = sv::of<float>(10, {{7, 3e38f}});
        detail::split_and_add(on, comm, schedule, parts, v, mine, piece, lists);
        schedule.finish();
    });
    CHECK(errors[0] == "none");  // rank 1 reports it in the messages that follow
    CHECK(errors[1] == "round 3: the ranks' sum is not finite at coordinate 7");
}
