// SPDX-License-Identifier: Apache-2.0
// Top-k SGD is EF-SGD with top_k, byte for byte, with its step.
#include "laconic/method/top_k_sgd.hpp"

#include "support/test.hpp"
#include "support/toys.hpp"

using namespace laconic;
using namespace toys;

static_assert(Method<top_k_sgd>);

TEST_CASE("it is ef_sgd with top_k, byte for byte") {
    auto const f = random_ridges(3, 9, 1, 4);
    auto const p = constants(f);
    auto const a = history(composed(top_k_sgd{2}, p), f, vec(9, 1.0), 20);
    auto const b = history(composed(ef_sgd{top_k{2}}, p), f, vec(9, 1.0), 20);
    for (std::size_t k = 0; k <= 20; ++k) {
        CHECK(a[k].x == b[k].x);
        CHECK(a[k].bytes == b[k].bytes);
        CHECK(a[k].residual == b[k].residual);
    }
}

TEST_CASE("its step, wrong arguments refused with the reason, and its text") {
    problem const p{8, 5, 4, .5, 9, 6};
    CHECK(composed(top_k_sgd{.25}, p).scale == composed(ef_sgd{top_k{2}}, p).scale);
    CHECK(composed(top_k_sgd{.25, {.step = .5}}, problem{}).scale == .5);
    CHECK_THROWS_WITH_AS(composed(top_k_sgd{2}, problem{}), doctest::Contains("top_k_sgd: "), theory_error);
    CHECK_THROWS_WITH_AS(composed(top_k_sgd{2, {.batch = 4}}, p),
                         doctest::Contains("top_k_sgd: its theorem is about the gradients of all rows"), theory_error);
    CHECK_THROWS_AS(composed(top_k_sgd{2, {.memory = .5}}, p), argument_error);
    CHECK(to_string(top_k_sgd{}) == "top_k_sgd(k=0.01)");
    CHECK(to_string(top_k_sgd{100, {.step = .1, .batch = 8}}) == "top_k_sgd(k=100, step=0.1, batch=8)");
}
