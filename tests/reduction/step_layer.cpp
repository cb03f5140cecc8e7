// SPDX-License-Identifier: Apache-2.0
// A layer that has no message has a failure, of which the ranks need not have the same.
#include "laconic/reduction/step_layer.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"

std::string text_of(detail::failure const& f) {
    try {
        f.raise();
    } catch (compression_error const& e) {
        return e.why;
    }
    return "";
}

TEST_CASE("a layer that has no message has a failure, and what ranks have alike in a step follows its options") {
    fibers::run(1, [](fibers::member& comm) {
        detail::step_resources<fibers::member, host> with;
        with.connect(comm);
        detail::reduced_layer<error_feedback<top_k<>>, fibers::member, float, host> typed(
            with, error_feedback{top_k{1}}, {"w", 4}, {});
        detail::step_layer& l = typed;
        detail::reduced_layer<plain<>, fibers::member, float, host> const only(with, plain{}, {"", 4}, {});
        CHECK(only.was_not_started() == "the vector was not started");
        CHECK(l.described() == "4 numbers, error_feedback(top_k(1))");
        CHECK_FALSE(l.uses_collective());
        CHECK(l.bytes_in_full() == 16);
        CHECK(l.alike() == 0);
        std::vector<float> x{1, 2, 3, 4}, longer(5);
        CHECK_THROWS_AS(l.bind(detail::caller_vector(std::span(longer))), shape_error);
        l.vector().start(detail::caller_vector(std::span(x)));
        l.make_message(0, 1, {.step_size = 0.5}, false);
        CHECK_FALSE(l.own_failure());
        auto const alike = l.alike();
        CHECK(alike != 0);
        l.make_message(0, 1, {.step_size = 0.25}, false);
        CHECK(l.alike() != alike);
        l.make_message(0, 1, {.step_size = 0.5}, true);
        CHECK(l.alike() == alike);
        l.fail(detail::failure::no_message("no data").by(0, 0), false);
        CHECK(text_of(l.own_failure()) == "no data");
        CHECK(l.alike() == 0);
        CHECK_FALSE(l.is_skipped());
        l.fail(detail::failure::left_out(l.was_not_started()).by(0, 0), false);
        CHECK(text_of(l.own_failure()) == "layer w was not started");
        CHECK(l.is_skipped());
        l.end_step();
        CHECK_FALSE(l.vector().is_started());
        l.make_message(0, 1, {}, false);  // no vector
        CHECK(text_of(l.own_failure()).starts_with("layer w: not started"));
    });
}
