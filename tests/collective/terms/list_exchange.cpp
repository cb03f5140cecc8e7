// SPDX-License-Identifier: Apache-2.0
// Lists reach the ranks that they are for, and rank 0's reaches all; all ranks throw what is wrong on one.
#include "laconic/collective/terms/list_exchange.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"
#include "support/sparse_vectors.hpp"

namespace sv = sparse_vectors;

static_assert(detail::ListCarrier<fibers::member, host>);

sparse_sum<float> list_of(int rank) { return sv::of<float>(9, {{std::size_t(rank), float(rank + 1)}, {8, 1}}); }

TEST_CASE("each rank's list goes to the next, to nobody, and rank 0's to all") {
    for (int const n : {1, 2, 3, 5, 8}) {
        CAPTURE(n);
        fibers::run(n, [&](fibers::member& comm) {
            host on;
            detail::list_exchange<float, host> lists(position_code::smallest);
            lists.start(on, comm, 9, 2, 1);
            int const me = comm.rank(), next = (me + 1) % n, before = (me + n - 1) % n;
            auto mine = list_of(me);
            sparse_sum<float> theirs(9);
            CHECK(!lists.pass(on, comm, no_rank, mine, no_rank, theirs));
            CHECK(lists.pass(on, comm, next, mine, before, theirs));
            CHECK(theirs == list_of(before));
            lists.spread(on, comm, mine);
            CHECK(mine == list_of(0));
        });
    }
}

TEST_CASE("a rank whose list is refused passes nothing on, and all throw why") {
    auto const errors = sv::errors_on(4, [&](auto& comm) {
        host on;
        detail::list_exchange<float, host> lists(position_code::smallest);
        lists.start(on, comm, 9, 2, 3);
        auto mine = comm.rank() == 3 ? sv::of<float>(9, {{4, NAN}}) : list_of(comm.rank());
        lists.errors().check_input(on, comm.rank(), mine, 9);
        sparse_sum<float> theirs(9);
        bool const came =
            lists.pass(on, comm, comm.rank() == 3 ? 0 : no_rank, mine, comm.rank() == 0 ? 3 : no_rank, theirs);
        CHECK(!came);
        lists.spread(on, comm, mine);
    });
    CHECK(errors == std::vector<std::string>(4, "rank 3, round 3: the gradient is not finite at coordinate 4"));
}

TEST_CASE("a list of more terms than any rank has is refused on all ranks") {
    auto const errors = sv::errors_on(2, [](auto& comm) {
        host on;
        detail::list_exchange<float, host> lists(position_code::smallest);
        lists.start(on, comm, 9, 2, 3);
        auto mine = comm.rank() == 1 ? sv::of<float>(9, {{1, 1}, {2, 1}, {4, 1}}) : list_of(0);
        sparse_sum<float> theirs(9);
        lists.pass(on, comm, comm.rank() == 1 ? 0 : no_rank, mine, comm.rank() == 0 ? 1 : no_rank, theirs);
        lists.spread(on, comm, mine);
    });
    for (auto const& text : errors)
        CHECK(text.find("from rank 1: a list of 3 terms, where no rank has more than 2") != std::string::npos);
}
