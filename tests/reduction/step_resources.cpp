// SPDX-License-Identifier: Apache-2.0
// A step sends over its own duplicate of a communicator, and counts messages apart from probes.
#include "laconic/reduction/step_resources.hpp"

#include "laconic/backend/host.hpp"
#include "laconic/comm/fibers.hpp"
#include "support/test.hpp"

using namespace laconic;

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
