// SPDX-License-Identifier: Apache-2.0
// A failed step ends on all ranks, or is reported to the others first, or breaks the reducer.
#include "laconic/reduction/step_state.hpp"

#include <new>

#include "support/everything.hpp"

struct kept_failure : detail::step_state {
    using step_state::broken_, step_state::clear, step_state::ended_, step_state::failed_, step_state::own_error_;
};
template <class E>
void check_throws(kept_failure const& f) {
    REQUIRE(f.failed_);
    CHECK_THROWS_AS(std::rethrow_exception(f.failed_), E);
}

TEST_CASE("what all ranks know of ends the step, and what one alone knows of is sent to the others first") {
    kept_failure f;
    f.attempt([] {});
    CHECK_FALSE(f.failed_);
    f.attempt([] { throw wire_error(3, "damaged"); });
    check_throws<wire_error>(f);
    CHECK_FALSE(f.ended_);
    CHECK(f.own_error_ == detail::failure{.kind = detail::failure_kind::unreadable, .where = 3, .why = "damaged"});
    CHECK_NOTHROW(f.broken_.require_consistent(0, 0));
    f.attempt([] { throw compression_error(1, 2, "no data"); });
    check_throws<wire_error>(f);  // the first
    CHECK(f.ended_);
    f.clear();
    CHECK_FALSE(f.failed_);
    CHECK_FALSE(f.ended_);
    CHECK_FALSE(f.own_error_);

    f.attempt([] { throw comm_error(1, "lost"); });
    check_throws<comm_error>(f);
    CHECK(f.ended_);
    CHECK_FALSE(f.own_error_);
    CHECK_NOTHROW(f.broken_.require_consistent(0, 0));
}

TEST_CASE("after what is none of the library's errors, other ranks may have taken the step") {
    kept_failure f;
    f.own_error_ = detail::failure::no_message("mine");
    f.attempt([] { throw std::bad_alloc(); });
    check_throws<std::bad_alloc>(f);
    CHECK_FALSE(f.ended_);
    CHECK(f.own_error_.why == "mine");
    CHECK_THROWS_AS(f.broken_.require_consistent(0, 0), comm_error);
    f.clear();
    CHECK_THROWS_AS(f.broken_.require_consistent(0, 0), comm_error);
}
