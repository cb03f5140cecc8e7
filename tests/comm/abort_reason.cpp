// SPDX-License-Identifier: Apache-2.0
// An `abort_reason` keeps the first reason and rethrows the first exception.
#include "laconic/comm/abort_reason.hpp"

#include "support/everything.hpp"

using laconic::comm_error;
using laconic::detail::abort_reason;

TEST_CASE("the first reason is raised, and the first exception thrown again") {
    abort_reason f;
    CHECK_FALSE(f);
    f.rethrow();
    f.is(2, abort_reason::left(2));
    f.is(1, "later");
    for (int const rank : {0, 1}) try {
            rank == 0 ? throw std::runtime_error("broken") : throw 42;
        } catch (...) {
            f.threw(rank);
        }
    try {
        f.raise();
    } catch (comm_error const& e) {
        CHECK(e.rank == 2);
        CHECK(std::string(e.what()) == "rank 2 left before the others were done");
    }
    CHECK_THROWS_AS(f.rethrow(), std::runtime_error);
    abort_reason other;
    other.threw(3, nullptr, "no thread");
    CHECK_THROWS_WITH_AS(other.raise(), "rank 3 failed: no thread", comm_error);
}
