// SPDX-License-Identifier: Apache-2.0
// The argument p is 1, 2 or inf, by name, with 2 as the default, and anything else is refused.
#include "laconic/any/norm.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace laconic;

namespace {

p_norm named(std::string const& text) {
    auto const calls = grammar::read_pipe(text);
    grammar::arguments a(text, calls[0]);
    auto const p = detail::norm_named(a);
    a.finish();
    return p;
}

}  // namespace

TEST_CASE("a norm is 1, 2 or inf, by name, and 2 where it is not given") {
    CHECK(named("c(p=1)") == p_norm::one);
    CHECK(named("c(p=2)") == p_norm::two);
    CHECK(named("c(p=inf)") == p_norm::largest);
    CHECK(named("c") == p_norm::two);
    for (std::string const text : {"c(p=3)", "c(p=1(2))", "c(p=1|2)"}) {
        std::string why;
        try {
            named(text);
        } catch (parse_error const& e) {
            why = e.what();
        }
        CHECK(why.find("column 5: p is 1, 2 or inf") != std::string::npos);
    }
    CHECK_THROWS_AS(named("c(1)"), parse_error);  // by name only
}
