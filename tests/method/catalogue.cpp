// SPDX-License-Identifier: Apache-2.0
// Each method is listed once, for double and float, composes by its text, and has the length of its step.
#include "laconic/method/catalogue.hpp"

#include <doctest/doctest.h>

#include <set>

#include "laconic/method/parse.hpp"
#include "methods.hpp"
#include "named_methods.hpp"

using namespace laconic;

// tests/methods.cpp runs every entry; here is what a list must be.
TEST_CASE("each method stands in the list once, and is the same for float") {
    std::set<std::string> names;
    for (auto const& m : detail::named_methods<double>()) {
        CHECK(names.insert(m.about.name).second);
        CHECK(m.about.parameters.front() == '(');
        CHECK(m.about.parameters.back() == ')');
    }
    CHECK(names.size() >= 30);
    for (auto const& m : detail::named_methods<float>()) CHECK(names.count(m.about.name) == 1);
    CHECK(detail::named_methods<float>().size() == names.size());
}

TEST_CASE("a method of float composes") {
    auto const method = parse_method<float>("diana(rand_k(0.1) | natural)");
    CHECK(to_string(method) == "diana(rand_k(0.1) | natural)");
    problem const p{8, 5, 4, .5, 9, 6};
    CHECK(method.compose<float, host>(p).step.rate() > 0);
}

TEST_CASE("each method has the length of its step") {
    problem p{8, 5, 4, .5, 9, 6, .5, 7, 12};
    p.own_smoothness = 8;
    for (auto const& text : every_method()) {
        CAPTURE(text);
        auto const r = parse_method<double>(text).compose<double, host>(p);
        CHECK(r.scale * r.step.rate() > 0);
    }
    CHECK(parse_method<double>("dual_averaging(step=0.25)").compose<double, host>(p).step.rate() == .25);
    CHECK(parse_method<double>("dual_averaging").compose<double, host>(p).step.rate() == 1. / 8);
}
