// SPDX-License-Identifier: Apache-2.0
// A step's communicator passes on what is sent and counts it, and starts all-gathers over one that cannot overlap them.
#include "laconic/reduction/step_communicator.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"
#include "support/passed_on.hpp"

using plain_ranks = passed_on<fibers::member>;
static_assert(!Overlapping<plain_ranks> && Overlapping<fibers::member> && Overlapping<detail::step_communicator>);

std::byte byte_of(int r) { return static_cast<std::byte>(10 + r); }

template <class C>
void check_all(C& comm) {
    detail::counted_communicator<C> typed(comm);
    detail::step_communicator& ranks = typed;
    CHECK(ranks.rank() == comm.rank());
    CHECK(ranks.size() == 3);
    std::byte const mine = byte_of(ranks.rank());
    auto const has_all = [&] {
        for (int r = 0; r < 3; ++r) CHECK(ranks.from(r).bytes[0] == byte_of(r));
    };
    ranks.all_gather({std::span(&mine, 1)});
    has_all();
    ranks.start_all_gather({std::span(&mine, 1)}, 3);
    ranks.finish(3);
    has_all();
    CHECK(typed.counted().bytes_sent() == 2);
    CHECK(typed.counted().bytes_received() == 4);
    ranks.gather(1, {std::span(&mine, 1), true});
    if (ranks.rank() == 1) has_all();
    ranks.broadcast(2, {std::span(&mine, 1)});
    CHECK(ranks.from(2).bytes[0] == byte_of(2));
    CHECK(typed.counted().bytes_sent() == 3);
}

TEST_CASE("a step's communicator passes on what is sent and counts it, over any communicator") {
    fibers::run(3, [](fibers::member& comm) {
        check_all(comm);
        plain_ranks without_lanes{&comm};
        check_all(without_lanes);
    });
}

TEST_CASE("a communicator that can be duplicated is, and another is used itself") {
    fibers::run(2, [](fibers::member& comm) {
        detail::own_communicator<fibers::member> own(comm);
        CHECK(&own.comm() != &comm);
        own.comm().start_all_gather({});
        comm.all_gather({});  // which does not mix with it
        own.comm().finish();
        metered counted(comm);
        CHECK(&detail::own_communicator<metered<fibers::member>>(counted).comm() == &counted);
    });
}

TEST_CASE("a step sends over its own duplicate of a communicator, and counts messages apart from probes") {
    fibers::run(2, [](fibers::member& comm) {
        detail::step_resources<fibers::member, host> with;
        with.connect(comm);
        std::byte const mine[] = {std::byte{1}, std::byte(comm.rank())};
        std::byte const other{7};
        with.comm().all_gather({mine});
        with.watching().all_gather({std::span(mine).first(1)});
        comm.all_gather({std::span(&other, 1)});
        CHECK(comm.from(0).bytes[0] == other);
        CHECK(with.watching().from(1).bytes.size() == 1);  // the caller's all-gather is of another communicator
        CHECK(with.comm().bytes_sent() == 2);
        CHECK(with.watching().bytes_sent() == 1);
        with.connect(comm);
        CHECK(with.comm().bytes_sent() == 0);
    });
}
