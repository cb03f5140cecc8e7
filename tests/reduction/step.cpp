// SPDX-License-Identifier: Apache-2.0
// A step of layers writes nothing before finish, and is committed or abandoned by hand.
#include "laconic/reduction/step.hpp"

#include <exception>

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"

TEST_CASE(
    "a step in its parts: once prepared it is committed, or abandoned without a change, and failed() says why not") {
    using with_errors = error_feedback<top_k<>>;
    fibers::run(2, [](fibers::member& comm) {
        detail::reduction_step<with_errors, fibers::member> step(
            comm, [](layer const&) { return with_errors{top_k{1}}; }, layers_of({3}), {});
        auto const residual = [&] {
            auto const e = step.layers()[0].feedback().residual();
            return std::vector<float>(e.begin(), e.end());
        };
        std::vector<float> x{1, 5, 2};
        auto const before = x;
        step.start(0, x);
        step.prepare();
        CHECK_FALSE(step.failed());
        step.abandon();
        CHECK(step.steps() == 0);
        CHECK(x == before);
        CHECK(residual() == std::vector<float>(3));
        if (comm.rank() == 1)
            step.refuse(detail::failure::no_message("no data"));
        else
            step.start(0, x);
        step.prepare();
        REQUIRE(step.failed());
        CHECK_THROWS_WITH_AS(std::rethrow_exception(step.failed()), "rank 1, round 0: no data", compression_error);
        step.abandon();
        CHECK(x == before);
        step.open();
        step.start(0, x);
        step.prepare();
        step.commit();
        CHECK(step.steps() == 1);
        CHECK(x == std::vector<float>{0, 5, 0});
        CHECK(residual() == std::vector<float>{1, 0, 2});
    });
}
