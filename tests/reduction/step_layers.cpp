// SPDX-License-Identifier: Apache-2.0
// Layers have an identity by name, and an order has a text that no other order has.
#include "laconic/reduction/step_layers.hpp"

#include "laconic/comm/fibers.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/reduction/reduced_layers.hpp"
#include "support/test.hpp"

using namespace laconic;

namespace tests_of_step_layers {

namespace {

using top_k_with_errors = error_feedback<top_k<>>;
using layers = detail::reduced_layers<top_k_with_errors, fibers::member, float, host>;

// The same reduction for all layers.
template <class R>
auto always(R r) {
    return [r](layer const&) { return r; };
}

}  // namespace

TEST_CASE("the identity of a state has the layers by name, what ranks agree on has them as they are listed") {
    layers const one({}, always(top_k_with_errors{top_k{1}}), {{"b", 3}, {"a", 2}}, {}),
        other({}, always(top_k_with_errors{top_k{1}}), {{"a", 2}, {"b", 3}}, {});
    CHECK(one.identity(0, 2, 5) == other.identity(0, 2, 5));
    CHECK(one.items().lines() != other.items().lines());
    CHECK(one.identity(0, 2, 5) != one.identity(1, 2, 5));
    CHECK(one.identity(0, 2, 5) != one.identity(0, 3, 5));
    CHECK(one.identity(0, 2, 5).find("layer a: 2 numbers, error_feedback(top_k(1))\nlayer b: 3 numbers") !=
          std::string::npos);
    CHECK(one.identity(0, 2, 5).starts_with("the seed: 5\n"));
    CHECK(one.items().lines().find("seed") == std::string::npos);
    layers share({}, always(top_k_with_errors{top_k{1}}), {{"b", 3}, {"a", 2}}, {});
    share.draw_as(detail::shared_seed(5), 1);
    CHECK(share.identity(0, 2, 5) != one.identity(0, 2, 5));
    layers const in_full({}, always(top_k_with_errors{top_k{1}}), {{"b", 3}, {"a", 2}}, {.in_full = {"a"}});
    CHECK(in_full.identity(0, 2, 5).find("layer a: 2 numbers, in full\n") != std::string::npos);
}

TEST_CASE("the text of an order differs where the order does, whatever the names are") {
    std::vector<std::vector<std::size_t>> const orders{{0, 1, 2}, {2, 0, 1}, {1, 0, 2}, {2, 1}, {0}, {2}, {0, 2}, {}};
    for (std::vector<layer> const& names : {std::vector<layer>{{"a", 1}, {"b", 1}, {"a, b", 1}},
                                            std::vector<layer>{{"a", 1}, {"; not started: a", 1}, {"", 1}},
                                            std::vector<layer>{{"a\\", 1}, {"a\\, b", 1}, {"b", 1}}}) {
        layers const all({}, always(top_k_with_errors{top_k{1}}), names, {});
        std::vector<std::string> texts;
        for (auto const& order : orders) {
            detail::layer_order started(3);
            for (auto const l : order) started.start(l);
            texts.push_back(all.names(started));
        }
        std::sort(texts.begin(), texts.end());
        CHECK(std::adjacent_find(texts.begin(), texts.end()) == texts.end());
    }
    layers const all({}, always(top_k_with_errors{top_k{1}}), {{"b", 3}, {"a", 2}}, {});
    detail::layer_order order(2);
    order.start(1);
    CHECK(all.names(order) == "a, ; not started: b");
    order.start(0);
    CHECK(all.names(order) == "a, b");
}

}  // namespace tests_of_step_layers
