// SPDX-License-Identifier: Apache-2.0
// A step is a number, or one over the smoothness; the text of cat composes as in C++, and mistakes have columns.
#include "laconic/method/arguments.hpp"

#include "named_methods.hpp"
#include "support/everything.hpp"
#include "support/refused.hpp"

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

void refused(std::string const& text, std::size_t column, std::string const& why) {
    refuses(parse_method<double>, text, column, why, false);
}

problem const of_five{100, 5, 4, .5, 9, 6, .25, 7, 12};

TEST_CASE("a method from its text composes as in C++") {
    auto const same = [](auto const& m) {
        CAPTURE(to_string(m));
        auto const typed = m.template compose<double, host>(of_five);
        auto const read = parse_method(to_string(m)).template compose<double, host>(of_five);
        CHECK(to_string(read.compressor) == to_string(typed.compressor));
        CHECK(to_string(read.feedback) == to_string(typed.feedback));
        CHECK(to_string(read.step) == to_string(typed.step));
        CHECK(read.scale == typed.scale);
    };
    auto const cost = packet_cost(40, 10, 20);
    same(cat{diana{rand_k{}}, cost});
    same(cat{diana{rand_k{} | natural{}, {.memory = .25}}, cost});
    same(cat{vr_diana{rand_k{}}, cost});
    same(cat{vr_diana_saga{rand_k{} | natural{}}, cost});
    same(cat{ef_sgd{top_k{1}}, cost});
    same(cat{ef_sgd{top_k{1} | scaled_sign{}, {.step = .25}}, cost});
}

TEST_CASE("what cannot be read is refused with its column") {
    std::string const families = "k can be chosen for rand_k and rand_k | natural, which are written without their own";
    refused("cat", 1, "cat needs a compressor: cat(compressor=...)");
    refused("cat(diana)", 5, "diana needs a compressor: diana(compressor=...)");
    refused("cat(diana(step=0.1))", 5, "diana needs a compressor: diana(compressor=...)");
    refused("cat(diana(natural))", 11, "diana: " + families);
    refused("cat(vr_diana(rand_k | quantize(2)))", 14, "vr_diana: " + families);
    refused("cat(diana(rand_k | natural | identity))", 11, families);
    refused("cat(diana(rand_k(3)))", 18, "rand_k takes no arguments");
    refused("cat(diana(rand_k | natural(3)))", 28, "natural takes no arguments");
    refused("cat(diana(rand_k), step=0.1)", 25, "cat takes compressor or cost");
    refused("cat(diana(rand_k, cost=bits))", 24, "diana takes compressor, step, memory or batch");
    refused("cat(diana(rand_k) | natural)", 21, "a method cannot be part of a pipe");
    refused("cat(ef_sgd(top_k, memory=1))", 26, "ef_sgd takes compressor, step or batch");
    refused("cat(ef_sgd(rand_k))", 12, "a level can be chosen for");
    refused("cat(error_feedback(top_k(3)))", 26, "top_k takes no arguments");
    refused("cat(dcgd(top_k))", 5, "a level can be chosen for");
    refused("cat(diana(rand_k), cost=3)", 25, "there is no cost '3'");
}

TEST_CASE("a step is a number, or a number over the smoothness, and nothing else") {
    CHECK(read_step("m") == overrides{});
    CHECK(read_step("m(step=2)") == overrides{.step = 2});
    CHECK(read_step("m(step=0.5/L)") == overrides{.step = step_size{.5, true}});
    for (char const* const wrong :
         {"m(step=0)", "m(step=-1/L)", "m(step=L)", "m(step=1/2)", "m(step=nan)", "m(memory=0.5)", "m(batch=2)"})
        CHECK_THROWS_AS(read_step(wrong), parse_error);
}
