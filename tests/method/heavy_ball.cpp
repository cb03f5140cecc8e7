// SPDX-License-Identifier: Apache-2.0
// Polyak's momentum reaches its rate on a quadratic, and DIANA with it still reaches the optimum.
#include "laconic/method/heavy_ball.hpp"

#include "laconic/compress/rand_k.hpp"
#include "laconic/method/diana.hpp"
#include "laconic/method/gd.hpp"
#include "named_methods.hpp"
#include "support/test.hpp"
#include "support/toys.hpp"

using namespace laconic;
using namespace toys;

TEST_CASE("on a quadratic it falls by sqrt beta a round with Polyak's numbers, and gradient descent does not") {
    // f = (x^2 + 100 y^2) / 2: step 4 / (sqrt L + sqrt mu)^2, beta ((sqrt L - sqrt mu) / (sqrt L + sqrt mu))^2.
    workers const f{{Eigen::Vector2d(1, 100).asDiagonal().toDenseMatrix(), Eigen::Vector2d(0, 0), 0}};
    double const beta = 81. / 121;
    lockstep ball(composed(heavy_ball{gd{{.step = 4. / 121}}, beta}, f), f, {1, 1}, 1);
    lockstep plain(composed(gd{}, f), f, {1, 1}, 1);
    ball.rounds(200);
    plain.rounds(200);
    // A double root: the distance is at most k sqrt(beta)^k times a constant.
    CHECK(std::sqrt(norm2(ball.x())) < 1000 * std::pow(9. / 11, 200));
    CHECK(std::sqrt(norm2(ball.x())) > 1e-3 * std::pow(9. / 11, 200));
    CHECK(std::sqrt(norm2(plain.x())) > .1);
}

TEST_CASE("diana with momentum still reaches the optimum of workers that disagree") {
    auto const f = random_ridges(4, 6, 1, 5);
    known_optimum const best(f);
    lockstep run(composed(heavy_ball{diana{rand_k{2}}, .5}, f), f, vec(6, 1.0), 1);
    run.rounds(6000);
    CHECK(distance2(run.x(), best.x) < 1e-24 * norm2(best.x));
    for (std::size_t i = 0; i < 4; ++i) CHECK(distance2(run.known(i), best.gradients[i]) < 1e-18);
}

TEST_CASE("a written one is the one that is compiled; what has no single step is refused") {
    auto const f = random_ridges(3, 8, 1, 2);
    auto const p = constants(f);
    std::vector<any_objective<>> const any(f.begin(), f.end());
    std::string const text = "heavy_ball(diana(rand_k(2)), beta=0.5)";
    auto const a = history(heavy_ball{diana{rand_k{2}}, .5}.compose<double, host>(p), f, vec(8, 1.0), 15);
    auto const b = history(parse_method(text).compose<double, host>(p), any, vec(8, 1.0), 15);
    for (std::size_t k = 0; k <= 15; ++k) CHECK(a[k].x == b[k].x);
    CHECK(to_string(heavy_ball{diana{rand_k{2}}, .5}) == text);
    for (char const* const without :
         {"heavy_ball(proxskip)", "heavy_ball(dual_averaging)", "heavy_ball(heavy_ball(gd))",
          "heavy_ball(bidirectional(gd, natural))", "heavy_ball(gd, beta=1)"}) {
        CAPTURE(without);
        CHECK_THROWS_AS(parse_method(without).compose(p, {}), argument_error);
    }
    // With |x|_1 / 2 too.
    auto const r = parse_method("heavy_ball(gd(step=0.25), beta=0.5)").compose(constants(around({{1}, {3}})), {.5, 0});
    CHECK(to_string(r.step).find("elastic_net(0.5, 0) for 0.5") != std::string::npos);
}
