// SPDX-License-Identifier: Apache-2.0
// Patterns choose the layers in full, and every option is among what ranks must agree on.
#include "laconic/reduction/options.hpp"

#include "support/everything.hpp"

using laconic::detail::matches;

TEST_CASE("a pattern's * stands for any text, and all else for itself") {
    for (auto const* name : {"conv.bias", ".bias", "a.b.bias", ".bias.bias"}) CHECK(matches("*.bias", name));
    for (auto const* name : {"conv.bias2", "bias", "conv.weight", ""}) CHECK_FALSE(matches("*.bias", name));
    CHECK(matches("", ""));
    CHECK_FALSE(matches("", "a"));
    for (auto const* name : {"", "a", "*"}) CHECK(matches("*", name));
    CHECK(matches("**", "anything"));
    CHECK(matches("a*b*c", "axxbyybzzc"));
    CHECK(matches("a*b*c", "abc"));
    CHECK_FALSE(matches("a*b*c", "acb"));
    CHECK_FALSE(matches("a*b*c", "abcd"));
    CHECK(matches("block[1].*", "block[1].w"));
    CHECK_FALSE(matches("block[1].*", "block1.w"));
    // Many stars take no more than length times length.
    CHECK_FALSE(matches("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", std::string(2000, 'a')));
}

TEST_CASE("layers in full: those of fewer numbers, and those whose names match") {
    reducer_options const both{.dense_below = 10, .in_full = {"*.bias", "norm*"}};
    CHECK(detail::is_in_full({"w", 9}, both));
    CHECK_FALSE(detail::is_in_full({"w", 10}, both));
    CHECK(detail::is_in_full({"a.bias", 10}, both));
    CHECK(detail::is_in_full({"norm3", 10}, both));
    CHECK_FALSE(detail::is_in_full({"norm3", 10}, {}));
    CHECK_FALSE(detail::is_in_full({"w", 0}, {}));
}

TEST_CASE("every option is among what ranks must agree on") {
    auto const text = [](reducer_options const& o) { return detail::described(o).lines(); };
    auto const is_described = [&](reducer_options const& o) { return text(o) != text({}); };
    CHECK(is_described({.non_finite = on_non_finite::propagate}));
    CHECK(is_described({.missing_layer = on_missing_layer::zero}));
    CHECK(text({.missing_layer = on_missing_layer::skip}) != text({.missing_layer = on_missing_layer::zero}));
    CHECK(is_described({.skip_zero_layers = true}));
    CHECK(is_described({.dense_below = 1}));
    CHECK(is_described({.in_full = {"a"}}));
    CHECK(text({.in_full = {"a, b"}}) != text({.in_full = {"a", "b"}}));
    CHECK(is_described({.dense_rounds = 1}));
    CHECK(is_described({.correlated = true}));
    CHECK_FALSE(is_described({.positions = position_code::fastest}));  // each message states which it has
}

TEST_CASE("layers of one step share weight and dense, and where some may count as zeros all options") {
    auto const goes = [](step_options const& one, step_options const& other, reducer_options const& all) {
        return detail::trouble_between(one, other, all) == nullptr;
    };
    for (on_missing_layer const what : {on_missing_layer::raise, on_missing_layer::zero, on_missing_layer::skip}) {
        reducer_options const all{.missing_layer = what, .steps_vary = true};
        CHECK(goes({.step_size = 1}, {.step_size = 1}, all));
        CHECK_FALSE(goes({.weight = 2}, {}, all));
        CHECK_FALSE(goes({}, {.dense = true}, all));
        CHECK(goes({.step_size = 1}, {.step_size = 2}, all) == (what != on_missing_layer::zero));
        CHECK(goes({.loss_scale = 2}, {}, all) == (what != on_missing_layer::zero));
    }
}

TEST_CASE("a step's digest is that of its loss scale, step size and largest number") {
    auto const one = detail::step_digest({.loss_scale = 2, .step_size = 1}, 3);
    CHECK(one != 0);
    CHECK(one == detail::step_digest({.loss_scale = 2, .step_size = 1}, 3));
    CHECK(one != detail::step_digest({.loss_scale = 2, .step_size = 3}, 3));
    CHECK(one != detail::step_digest({.loss_scale = 4, .step_size = 1}, 3));
    CHECK(one != detail::step_digest({.loss_scale = 2, .step_size = 1}, 5));
}

TEST_CASE("a pattern that matches no layer is refused with the layers' names, the first eight of them") {
    std::vector<layer> all{{"conv.weight", 4}, {"conv.bias", 2}};
    CHECK_NOTHROW(detail::require_matches(all, {.in_full = {"*.bias", "conv.*", "*"}}));
    CHECK_THROWS_WITH_AS(
        detail::require_matches(all, {.in_full = {"*.bias", "*.baise"}}),
        "in_full: the pattern \"*.baise\" matches no layer; their names are \"conv.weight\", \"conv.bias\"",
        argument_error);
    CHECK_THROWS_WITH_AS(detail::require_matches(layers_of(std::vector<std::size_t>(10, 1)), {.in_full = {"10"}}),
                         "in_full: the pattern \"10\" matches no layer; their names are \"0\", \"1\", \"2\", \"3\", "
                         "\"4\", \"5\", \"6\", \"7\" and 2 more",
                         argument_error);
}
