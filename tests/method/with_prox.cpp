// SPDX-License-Identifier: Apache-2.0
// with_prox adds or replaces a method's proximal operator. (methods_optimum.cpp has what it leads to.)
#include "laconic/method/with_prox.hpp"

#include "support/everything.hpp"

using namespace laconic;

namespace {
problem const some{4, 3, 1, 1, 1, 1, 1};
}

TEST_CASE("a prox that is there is replaced, and diana's own is the same") {
    auto const own = diana{rand_k{1}, {.step = .125}, l1{.5}}.compose<double, host>(some);
    auto const added = with_prox(diana{rand_k{1}, {.step = .125}, l2{3}}.compose<double, host>(some), l1{.5});
    static_assert(std::same_as<decltype(own), decltype(added)>);
    CHECK(to_string(own.step) == to_string(added.step));
    CHECK(added.step.rate == .125);
}

TEST_CASE("where the scale is inside the messages the prox is for the whole step") {
    auto const r = with_prox(ef_sgd{top_k{4}, {.step = .25}}.compose<double, host>(some), l1{.5});
    CHECK(r.scale == .25);
    CHECK(r.step.step.rate == 1);
    CHECK(r.step.rate == .25);
}
