// SPDX-License-Identifier: Apache-2.0
// A communicator that can be duplicated is, so that messages do not mix; another is used itself.
#include "laconic/reduction/own_communicator.hpp"

#include "laconic/comm/fibers.hpp"
#include "laconic/comm/metered.hpp"
#include "support/test.hpp"

using namespace laconic;

TEST_CASE("a communicator that can be duplicated is, and another is used itself") {
    fibers::run(2, [](fibers::member& comm) {
        auto const own = detail::own_communicator<fibers::member>::of(comm);
        CHECK(&own->comm() != &comm);
        own->comm().start_all_gather({});
        comm.all_gather({});  // which does not mix with it
        own->comm().finish();
        metered counted(comm);
        CHECK(&detail::own_communicator<metered<fibers::member>>::of(counted)->comm() == &counted);
    });
}
