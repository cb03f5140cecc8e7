// SPDX-License-Identifier: Apache-2.0
// Steps, memory rates, batches and other arguments are read by name, only where a method has them, and in range.
#include "laconic/method/arguments.hpp"

#include "laconic/any/fields.hpp"
#include "laconic/method/gd_sec.hpp"
#include "laconic/method/ibcd.hpp"
#include "laconic/method/lag_wk.hpp"
#include "support/test.hpp"

using namespace laconic;

namespace {

// read(arguments) of a written call, and nothing may be left over.
template <class Read>
auto from(std::string const& text, Read read) {
    auto const calls = grammar::read_pipe(text);
    grammar::arguments a(text, calls[0]);
    auto const result = read(a);
    a.finish();
    return result;
}
struct all_known {
    rates given{};
    static constexpr void description(auto&& describe) {
        describe("m", "", "", detail::step_field, detail::memory_field, detail::batch_field);
    }
};
struct step_known {
    rates given{};
    static constexpr void description(auto&& describe) { describe("m", "", "", detail::step_field); }
};
rates all_rates(std::string const& text) {
    return from(text, [](auto& a) { return grammar::read_fields<all_known>(a).given; });
}

}  // namespace

TEST_CASE("steps, memory rates and batches, in any order, each only where a method has it") {
    CHECK(all_rates("m") == rates{});
    CHECK(all_rates("m(batch=3, step=0.5/L, memory=0.25)") == rates{step_size{.5, true}, .25, 3});
    CHECK(all_rates("m(step=2)") == rates{.step = 2});
    auto const no_more = [](auto& a) { return grammar::read_fields<step_known>(a).given; };
    CHECK(from("m(step=2)", no_more) == rates{.step = 2});
    CHECK_THROWS_AS(from("m(memory=0.5)", no_more), parse_error);
    CHECK_THROWS_AS(from("m(batch=2)", no_more), parse_error);
    for (char const* const wrong : {"m(step=0)", "m(step=-1/L)", "m(step=L)", "m(step=1/2)", "m(memory=x)",
                                    "m(batch=2.5)", "m(batch=1e10)", "m(step=nan)"})
        CHECK_THROWS_AS(all_rates(wrong), parse_error);
}

TEST_CASE("blocks, thresholds and lags") {
    auto const blocks = [](auto& a) { return grammar::read_fields<ibcd>(a); };
    CHECK(from("m(tau=0.5, block=7)", blocks) == ibcd{.5, 7});
    CHECK(from("m", blocks) == ibcd{});
    CHECK_THROWS_AS(from("m(block=0)", blocks), parse_error);

    auto const sec = [](auto& a) { return grammar::read_fields<gd_sec>(a); };
    CHECK(from("m(xi=3, beta=0.5, step=1)", sec) == gd_sec{3, {.step = 1, .memory = .5}});
    CHECK(from("m", sec) == gd_sec{});

    auto const lag = [](auto& a) { return grammar::read_fields<lag_wk>(a); };
    CHECK(from("m(D=3, xi=0.25)", lag) == lag_wk{.25, 3});
    CHECK(from("m", lag) == lag_wk{});
    CHECK_THROWS_AS(from("m(D=0)", lag), parse_error);
    CHECK_THROWS_AS(from("m(D=1.5)", lag), parse_error);
}
