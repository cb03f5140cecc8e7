// SPDX-License-Identifier: Apache-2.0
// A failed step ends on all ranks, or is reported to the others first, or breaks the reducer.
#include "laconic/reduction/step_state.hpp"

#include <new>

#include "laconic/comm/fibers.hpp"
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

// Ranks agree on shares by weight and on the latest round, and refuse a wrong step alike.

// The share of this rank, or why there is no step.
std::string outcome(auto agree) {
    try {
        return detail::shortest(agree()) + " ";
    } catch (compression_error const& e) {
        return e.what();
    } catch (agreement_error const& e) {
        return detail::concat({"agreement of rank ", e.rank, ": ", e.what()});
    }
}
// What the ranks' weights come to: their shares, or why there is no step.
std::string agreed(std::vector<double> const& weights, std::vector<char> const& dense) {
    std::vector<std::string> outcomes(weights.size());
    fibers::run(int(weights.size()), [&](fibers::member& comm) {
        auto const r = std::size_t(comm.rank());
        outcomes[r] =
            outcome([&] { return detail::agree_on_step(comm, 5, {.weight = weights[r], .dense = dense[r] != 0}); });
    });
    std::string all;
    for (auto const& text : outcomes)
        if (text != all) all += text;  // what all have, once
    return all;
}

TEST_CASE("shares are weights by the mean weight, and what cannot be is refused alike on all ranks") {
    CHECK(agreed({3, 0, 1, 4}, {0, 0, 0, 0}) == "1.5 0 0.5 2 ");
    CHECK(agreed({7, 7, 7}, {1, 1, 1}) == "1 ");
    CHECK(agreed({1, -1}, {0, 0}) == "rank 1, round 5: a weight of -1, which must be finite and at least 0");
    CHECK(agreed({1, std::numeric_limits<double>::infinity()}, {0, 0}) ==
          "rank 1, round 5: a weight of inf, which must be finite and at least 0");
    CHECK(agreed({1, std::numeric_limits<double>::quiet_NaN()}, {0, 0}) ==
          "rank 1, round 5: a weight of nan, which must be finite and at least 0");
    CHECK(agreed({0, 0}, {0, 0}) == "rank 0, round 5: the ranks' weights add up to 0");
    CHECK(agreed({1, 1, 1}, {1, 1, 0}) == "agreement of rank 2: rank 2: step 5 is not dense, unlike on rank 0");
}

TEST_CASE("a step that a rank drops is dropped, whatever its options") {
    for (bool const dense : {false, true})
        fibers::run(3, [&](fibers::member& comm) {
            auto const how = comm.rank() == 1 ? detail::begins::to_drop : detail::begins::with_options;
            auto const options = comm.rank() == 1 ? step_options() : step_options{.dense = dense};
            CHECK(outcome([&] { return detail::agree_on_step(comm, 5, options, how); }) ==
                  "rank 1, round 5: the step was dropped there");
        });
}

TEST_CASE("ranks of different steps, step sizes or loss scales see it before any weight, unless one drops the step") {
    auto const differs = [](std::uint64_t round, step_options const& options,
                            detail::begins how = detail::begins::with_options) {
        int seen = 0;
        fibers::run(2, [&](fibers::member& comm) {
            try {
                if (comm.rank() == 0)
                    detail::agree_on_step(comm, 5, {.step_size = 0.5});
                else
                    detail::agree_on_step(comm, round, options, how);
            } catch (detail::tags_differ const&) {
                ++seen;
            } catch (compression_error const&) {  // the step is dropped
            }
        });
        CHECK(seen != 1);
        return seen == 2;
    };
    CHECK_FALSE(differs(5, {.step_size = 0.5, .weight = 3}));
    for (std::uint64_t const round : {4u, 6u}) CHECK(differs(round, {.step_size = 0.5}));
    for (double const size : {0.25, 0.75}) CHECK(differs(5, {.step_size = size}));
    CHECK(differs(5, {}));
    for (double const scale : {0.5, 2.0}) CHECK(differs(5, {.loss_scale = scale, .step_size = 0.5}));
    for (auto const how : {detail::begins::with_others, detail::begins::to_drop}) {
        CHECK_FALSE(differs(5, {}, how));
        CHECK(differs(6, {}, how));
    }
}

TEST_CASE("the latest round is that of the first rank that has come furthest") {
    fibers::run(4, [](fibers::member& comm) {
        bool const is_behind = comm.rank() % 2 == 0;
        CHECK((detail::latest_round(comm, is_behind ? 8u : 9u) == std::pair<std::uint64_t, int>(9, 1)));
    });
}
