// SPDX-License-Identifier: Apache-2.0
// A step is read as a number above 0, or as one over the smoothness. (parse_method.cpp has what methods make of it.)
#include "laconic/method/arguments.hpp"

#include "support/everything.hpp"

using namespace laconic;

namespace {

struct step_known {
    overrides given{};
    static constexpr void description(auto&& describe) { describe("m", "", "", detail::step_field); }
};
overrides read_step(std::string const& text) {
    auto const calls = grammar::read_pipe(text);
    grammar::arguments a(text, calls[0]);
    auto const m = grammar::read_fields<step_known>(a);
    a.finish();
    return m.given;
}

}  // namespace

TEST_CASE("a step is a number, or a number over the smoothness, and nothing else") {
    CHECK(read_step("m") == overrides{});
    CHECK(read_step("m(step=2)") == overrides{.step = 2});
    CHECK(read_step("m(step=0.5/L)") == overrides{.step = step_size{.5, true}});
    for (char const* const wrong :
         {"m(step=0)", "m(step=-1/L)", "m(step=L)", "m(step=1/2)", "m(step=nan)", "m(memory=0.5)", "m(batch=2)"})
        CHECK_THROWS_AS(read_step(wrong), parse_error);
}
