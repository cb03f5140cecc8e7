// SPDX-License-Identifier: Apache-2.0
// with_momentum adds Polyak's momentum to a method's step, as by hand, and keeps its prox.
#include "laconic/method/with_momentum.hpp"

#include "laconic/compress/rand_k.hpp"
#include "laconic/method/diana.hpp"
#include "laconic/method/gd.hpp"
#include "laconic/method/proxskip.hpp"
#include "laconic/method/with_prox.hpp"
#include "support/test.hpp"
#include "support/toys.hpp"

using namespace laconic;
using namespace toys;

namespace {

template <class R>
concept TakesMomentum = requires(R const& r) {
    with_momentum<double, host>(r, .5);
};
template <class M>
using recursion_of = decltype(std::declval<M>().template compose<double, host>(problem{}));

static_assert(TakesMomentum<recursion_of<gd>> && TakesMomentum<recursion_of<diana<rand_k<>>>>);
static_assert(!TakesMomentum<recursion_of<proxskip>>);

}  // namespace

TEST_CASE("the ball rolls as by hand: f = x^2 / 2, step 1/2, beta 1/2") {
    auto const f = around({{0}});
    lockstep run(with_momentum<double, host>(gd{{.step = .5}}.compose<double, host>(constants(f)), .5), f, {1}, 1);
    for (double const x : {.5, 0., -.25, -.25, -.125}) {  // v = 1, 1, 1/2, 0, -1/4
        run.round();
        CHECK(run.x()[0] == x);
    }
}

TEST_CASE("without momentum it is the method itself, bit for bit; with a prox it keeps it") {
    auto const f = random_ridges(3, 5, 1, 2);
    auto const r = diana{rand_k{2}, {}, l1{.1}}.compose<double, host>(constants(f));
    auto const none = with_momentum<double, host>(r, 0);
    CHECK(none.step.rate == r.step.rate);
    auto const a = history(r, f, vec(5, 1.0), 20), b = history(none, f, vec(5, 1.0), 20);
    for (std::size_t k = 0; k <= 20; ++k) CHECK(a[k].x == b[k].x);
    CHECK_THROWS_AS((with_momentum<double, host>(r, 1)), argument_error);
    CHECK_THROWS_AS((with_momentum<double, host>(r, -.1)), argument_error);
}

TEST_CASE("with_prox of a ball leads to the least of f + R, and replaces a prox that is there") {
    auto const f = around({{3, -1, .2, 0}, {1, -2, .2, 4}, {-1, -3, -.1, -4}});
    auto const ball = with_momentum<double, host>(gd{{.step = .25}}.compose<double, host>(constants(f)), .5);
    auto const once = with_prox(ball, l2{3});
    auto const r = with_prox(once, l1{.5});
    CHECK(once.step.rate == .5);  // .25 / (1 - .5)
    CHECK(r.step.rate == .5);
    lockstep run(r, f, vec(4, 0.0), 1);
    run.rounds(200);
    CHECK(distance2(run.x(), vec{.5, -1.5, 0, 0}) < 1e-28);
}
