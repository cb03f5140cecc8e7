// SPDX-License-Identifier: Apache-2.0
// Gathering one value from each rank: order, bytes, and what is refused.
// Ranks of one color are ordered by key, then by rank; a bad color or a rank elsewhere is an error.
#include "laconic/comm/from_all.hpp"

#include <atomic>

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"

struct report {
    double value;
    std::uint32_t count;
    std::byte mark;
};

TEST_CASE("every rank gets each rank's value, in the order of ranks, for as many bytes as it has") {
    threads::run(3, [](threads::member& inner) {
        metered comm(inner);
        std::vector<int> ranks;
        report const mine{.5 + inner.rank(), 7u * std::uint32_t(inner.rank()), std::byte(inner.rank())};
        detail::from_all(comm, mine, "its report", [&](int r, report const& theirs) {
            ranks.push_back(r);
            CHECK(theirs.value == .5 + r);
            CHECK(theirs.count == 7u * std::uint32_t(r));
            CHECK(theirs.mark == std::byte(r));
        });
        CHECK(ranks == std::vector<int>{0, 1, 2});
        CHECK(comm.bytes_sent() == sizeof(report));
    });
}

TEST_CASE("what has another length is refused, by its rank and its name") {
    threads::run(2, [](threads::member& comm) {
        std::uint16_t const two = 1;
        std::uint64_t const eight = 2;
        auto const call = [&] {
            if (comm.rank() == 1)
                detail::from_all(comm, two, "its flags", [](int, std::uint16_t) {});
            else
                detail::from_all(comm, eight, "its round", [](int, std::uint64_t) {});
        };
        CHECK_THROWS_WITH_AS(call(),
                             comm.rank() == 1 ? "rank 0 sent 8 bytes in place of its flags, of 2 bytes: all ranks must "
                                                "make the same calls in the same order"
                                              : "rank 1 sent 2 bytes in place of its round, of 8 bytes: all ranks must "
                                                "make the same calls in the same order",
                             comm_error);
        std::byte const bytes[] = {std::byte{1}, std::byte{2}, std::byte{3}};
        comm.all_gather({bytes});
        CHECK(detail::bytes_from(comm, 0, 3, "three bytes").size() == 3);
        CHECK_THROWS_AS(detail::bytes_from(comm, 0, 4, "four bytes"), comm_error);
        CHECK_THROWS_AS(detail::value_from<std::uint16_t>(comm, 0, "two bytes"), comm_error);
    });
}

TEST_CASE("the ranks of one color stand in the order of their keys, then of their ranks") {
    int const colors[] = {5, 0, 5, 5, 0, 5}, keys[] = {3, 0, -2, 3, 9, -7};
    std::vector<std::vector<int>> found(6);
    fibers::run(6, [&](fibers::member& comm) {
        auto const me = static_cast<std::size_t>(comm.rank());
        found[me] = detail::subgroup(comm, colors[me], keys[me]);
    });
    for (std::size_t r = 0; r < 6; ++r)
        CHECK(found[r] == (colors[r] == 5 ? std::vector<int>{5, 2, 0, 3} : std::vector<int>{1, 4}));
}

TEST_CASE("a color below 0 is refused on all ranks, and who is elsewhere is named") {
    int refused = 0;
    fibers::run(3, [&](fibers::member& comm) {
        CHECK_THROWS_WITH_AS(detail::subgroup(comm, 4 - 3 * comm.rank(), 0),
                             "rank 2 has color -2: colors are at least 0", argument_error);
        ++refused;
    });
    CHECK(refused == 3);
    fibers::run(2, [](fibers::member& comm) {
        if (comm.rank() == 1)
            comm.all_gather({});
        else
            CHECK_THROWS_AS(detail::subgroup(comm, 0, 0), comm_error);
    });
}
