// SPDX-License-Identifier: Apache-2.0
// Gathering one value from each rank: order, bytes, and what is refused.
#include "laconic/comm/from_all.hpp"

#include "support/everything.hpp"

using namespace laconic;

namespace tests_of_from_all {

struct report {
    double value;
    std::uint32_t count;
    std::byte mark;
};

}  // namespace tests_of_from_all

TEST_CASE("every rank gets each rank's value, in the order of ranks, for as many bytes as it has") {
    using tests_of_from_all::report;
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
