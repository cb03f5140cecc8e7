// SPDX-License-Identifier: Apache-2.0
// Signum is signSGD without momentum, the steps by hand with it, and averages misleading noise out.
#include "laconic/method/signum.hpp"

#include "laconic/method/signsgd.hpp"
#include "support/sums.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace toys;

static_assert(Method<signum>);

TEST_CASE("without momentum it is signsgd") {
    auto const f = random_ridges(3, 5, 1, 2);
    lockstep a(signum{0, {.step = .01}}.compose<double, host>({}), f, vec(5, 1.0), 1);
    lockstep b(signsgd{{.step = .01}}.compose<double, host>({}), f, vec(5, 1.0), 1);
    for (int k = 0; k < 100; ++k) {
        a.round();
        b.round();
        CHECK(a.x() == b.x());
    }
}

TEST_CASE("three rounds by hand: the momentum keeps its sign beyond the minimum") {
    auto const f = around({{1}});  // gradient x - 1
    lockstep run(signum{.5, {.step = 2}}.compose<double, host>({}), f, {0}, 1);
    run.round();  // v = -1/2
    CHECK(run.x() == vec{2});
    run.round();  // v = -1/4 + 1/2
    CHECK(run.x() == vec{0});
    run.round();  // v = 1/8 - 1/2
    CHECK(run.x() == vec{2});
    lockstep slow(signum{.75, {.step = 2}}.compose<double, host>({}), f, {-1}, 1);
    slow.round();  // v = -1/2
    slow.round();  // v = -3/8: the gradient at 1 is 0
    CHECK(slow.x() == vec{3});
    slow.round();  // v = -9/32 + 1/2
    CHECK(slow.x() == vec{1});
}

TEST_CASE("noise that misleads the signs averages out: a slope of 1/4 seen as 4, -1, -1, -1") {
    std::vector<quadratic<>> rows;
    for (double const slope : {4., -1., -1., -1.})
        rows.push_back({Eigen::MatrixXd::Zero(1, 1), Eigen::VectorXd::Constant(1, -slope), 0});
    std::vector const f{mean_of_rows(rows)};
    lockstep misled(signum{0, {.step = .01, .batch = 1}}.compose<double, host>({}), f, {0}, 1);
    lockstep averaged(signum{.99, {.step = .01, .batch = 1}}.compose<double, host>({}), f, {0}, 1);
    misled.rounds(4000);
    averaged.rounds(4000);
    CHECK(misled.x()[0] > 15);
    CHECK(averaged.x()[0] < -15);
}

TEST_CASE("wrong arguments are refused with the reason, and its text has the right ones") {
    CHECK_THROWS_WITH_AS((signum{}.compose<double, host>(problem{8, 5, 4, .5, 7, 6})),
                         doctest::Contains("signum: its step"), theory_error);
    CHECK_THROWS_AS((signum{1, {.step = .1}}.compose<double, host>({})), argument_error);
    CHECK_THROWS_AS((signum{.9, {.step = .1, .memory = .1}}.compose<double, host>({})), argument_error);
    CHECK(to_string(signum{}) == "signum(beta=0.9)");
    CHECK(to_string(signum{.5, {.step = .1}}) == "signum(beta=0.5, step=0.1)");
}
