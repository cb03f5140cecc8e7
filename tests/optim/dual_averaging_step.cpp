// SPDX-License-Identifier: Apache-2.0
// Dual averaging steps are those by hand, and the mean of the iterates keeps the bound for functions with corners.
#include "laconic/optim/dual_averaging_step.hpp"

#include "support/everything.hpp"
#include "support/states.hpp"

using namespace laconic;
using vec = std::vector<double>;

static_assert(Step<dual_averaging_step<>> && Step<dual_averaging_step<float>, float>);

namespace {

vec copied(std::span<double const> x) { return {x.begin(), x.end()}; }

}  // namespace

TEST_CASE("four steps by hand") {
    host on;
    dual_averaging_step<> step(.5);
    vec x{10, 20}, d{2, -4};
    CHECK(step.average().empty());
    step(on, std::span(x), std::span(d));
    CHECK(x == vec{9, 22});
    CHECK(copied(step.average()) == vec{10, 20});
    for (int k = 0; k < 2; ++k) {
        d = {2, 0};
        step(on, std::span(x), std::span(d));
    }
    d = {0, 2};
    step(on, std::span(x), std::span(d));  // z = (6, -2), 0.5 / sqrt(4)
    CHECK(x == vec{8.5, 20.5});
    CHECK(copied(step.sum()) == vec{6, -2});
    double const x2 = 10 - .5 / std::sqrt(2.) * 4, x3 = 10 - .5 / std::sqrt(3.) * 6;
    CHECK(step.average()[0] == doctest::Approx((10 + 9 + x2 + x3) / 4));
}

TEST_CASE("of |x|, which is not smooth, the mean is within R G sqrt(2 / T) of the optimum") {
    host on;
    double const distance = 3;  // x* = 0, G = 1
    dual_averaging_step<> step(distance / std::sqrt(2.));
    vec x{distance}, d(1);
    double last_worst = 0;
    for (int t = 1; t <= 2000; ++t) {
        d[0] = x[0] > 0 ? 1 : -1;
        step(on, std::span(x), std::span(d));
        CHECK(std::abs(step.average()[0]) <= distance * std::sqrt(2. / t));
        if (t > 1000) last_worst = std::max(last_worst, std::abs(x[0]));
    }
    CHECK(last_worst > .01);  // the iterates go on stepping over it
}

TEST_CASE("what it remembers is saved") {
    host on;
    dual_averaging_step<> step(.5), other(.5);
    vec x{1, 2}, d{3, 4};
    for (int k = 0; k < 3; ++k) step(on, std::span(x), std::span(d));
    restore_from(step, other);
    vec y = x;
    step(on, std::span(x), std::span(d));
    other(on, std::span(y), std::span(d));
    CHECK(x == y);
    CHECK(copied(step.average()) == copied(other.average()));
    CHECK(to_string(step) == "dual_averaging_step(0.5)");
}
