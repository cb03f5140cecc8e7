// SPDX-License-Identifier: Apache-2.0
// with_prox adds or replaces a method's proximal operator, and reaches the minimum of f + R.
#include "laconic/method/with_prox.hpp"

#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/method/diana.hpp"
#include "laconic/method/ef21.hpp"
#include "laconic/method/ef_sgd.hpp"
#include "laconic/method/gd.hpp"
#include "support/test.hpp"
#include "support/toys.hpp"

using namespace laconic;
using namespace toys;

namespace {

// R = |x|_1 / 2 leads to (.5, -1.5, 0, 0).
workers four() { return around({{3, -1, .2, 0}, {1, -2, .2, 4}, {-1, -3, -.1, -4}}); }
vec const answer{.5, -1.5, 0, 0};

template <class R>
double distance_after(R const& r, std::size_t rounds) {
    auto const f = four();
    lockstep run(r, f, vec(4, 0.0), 1);
    run.rounds(rounds);
    return std::sqrt(distance2(run.x(), answer));
}

}  // namespace

TEST_CASE("every method whose estimate becomes exact reaches the soft-thresholded mean") {
    problem const p = constants(four());
    CHECK(distance_after(with_prox(gd{{.step = .5}}.compose<double, host>(p), l1{.5}), 100) < 1e-14);
    CHECK(distance_after(with_prox(ef21{top_k{1}, {.step = .1}}.compose<double, host>(p), l1{.5}), 1500) < 1e-13);
    CHECK(distance_after(with_prox(diana{rand_k{1}, {.step = .125, .memory = .125}}.compose<double, host>(p), l1{.5}),
                         800) < 1e-13);
}

TEST_CASE("a prox that is there is replaced, and diana's own is the same") {
    problem const p = constants(four());
    auto const own = diana{rand_k{1}, {.step = .125}, l1{.5}}.compose<double, host>(p);
    auto const added = with_prox(diana{rand_k{1}, {.step = .125}, l2{3}}.compose<double, host>(p), l1{.5});
    static_assert(std::same_as<decltype(own), decltype(added)>);
    CHECK(to_string(own.step) == to_string(added.step));
    CHECK(added.step.rate == .125);
}

TEST_CASE("where the scale is inside the messages the prox is for the whole step") {
    problem const p = constants(four());
    auto const r = with_prox(ef_sgd{top_k{4}, {.step = .25}}.compose<double, host>(p), l1{.5});
    CHECK(r.scale == .25);
    CHECK(r.step.step.rate == 1);
    CHECK(r.step.rate == .25);
    CHECK(distance_after(r, 200) < 1e-14);  // nothing is left in the residual
    auto const wrong =
        ef_sgd{top_k{4}, {.step = .25}}.compose<double, host>(p).with_step(proximal<gradient_step, l1>{{1}, {.5}, 1});
    CHECK(distance_after(wrong, 200) > .1);
}

TEST_CASE("ridge by prox is ridge") {
    auto const f = four();
    problem const p = constants(f);
    lockstep run(with_prox(gd{{.step = .5}}.compose<double, host>(p), l2{1}), f, vec(4, 3.0), 1);
    run.rounds(100);
    CHECK(std::sqrt(distance2(run.x(), vec{.5, -1, .05, 0})) < 1e-14);  // the mean over 1 + weight
}
