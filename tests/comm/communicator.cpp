// SPDX-License-Identifier: Apache-2.0
#include "laconic/comm/communicator.hpp"

#include <doctest/doctest.h>

#include "laconic/comm/metered.hpp"
#include "laconic/comm/threads.hpp"

using namespace laconic;

namespace {

// A communicator of your own: one rank, alone.
struct alone {
    contribution said;
    int rank() const { return 0; }
    int size() const { return 1; }
    void all_gather(contribution mine) { said = mine; }
    contribution from(int) const { return said; }
};
struct without_from {
    int rank() const { return 0; }
    int size() const { return 1; }
    void all_gather(contribution) {}
};
struct unsigned_rank : alone {
    unsigned rank() const { return 0; }
};

static_assert(Communicator<alone> && Communicator<threads::member>);
static_assert(Communicator<metered<alone>> && Communicator<metered<metered<threads::member>>>);
static_assert(!Communicator<without_from> && !Communicator<unsigned_rank> && !Communicator<int>);

}  // namespace

TEST_CASE("a contribution is a message unless it says that it complains") {
    contribution const nothing;
    CHECK(nothing.bytes.empty());
    CHECK_FALSE(nothing.complaint);
    std::byte const word[3] = {};
    contribution const message{word};
    CHECK(message.bytes.size() == 3);
    CHECK_FALSE(message.complaint);
}
