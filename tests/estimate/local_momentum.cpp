// SPDX-License-Identifier: Apache-2.0
// Local momentum is the mean by hand and keeps no trace of a round that was not sent.
#include "laconic/estimate/local_momentum.hpp"

#include "support/everything.hpp"
#include "support/sums.hpp"

using namespace toys;

static_assert(Estimator<local_momentum<>, mean_of_rows> && Estimator<local_momentum<mini_batch>, quadratic<>>);

vec estimated(local_momentum<>& e, quadratic<> const& f, vec const& x) {
    host on;
    vec g(x.size());
    e(on, f, round_context{}, std::span<double const>(x), std::span(g));
    return g;
}

TEST_CASE("by hand: v = (1 - beta) g, then beta v + (1 - beta) g") {
    host on;
    auto const f = around({{0, 0}})[0];
    local_momentum<> e(.75);
    vec const x{4, -8}, y{8, 0};
    CHECK(estimated(e, f, x) == vec{1, -2});
    CHECK(e.mean().empty());
    CHECK(estimated(e, f, x) == vec{1, -2});  // again for the same round
    e.update(on, std::span<double const>(y));
    CHECK(copied(e.mean()) == vec{1, -2});
    CHECK(estimated(e, f, y) == vec{2.75, -1.5});
    e.update(on, std::span<double const>(y));
    CHECK(estimated(e, f, x) == vec{.75 * 2.75 + 1, .75 * -1.5 - 2});
}

TEST_CASE("a round that was not sent leaves no trace") {
    host on;
    auto const f = around({{0, 0}})[0];
    local_momentum<> e(.5);
    vec const x{4, -8};
    estimated(e, f, {NAN, 1});
    CHECK(estimated(e, f, x) == vec{2, -4});
    e.update(on, std::span<double const>(x));
    estimated(e, f, {NAN, 1});
    CHECK(estimated(e, f, x) == vec{3, -6});
}

TEST_CASE("wrong arguments are refused with the reason, and its text has the right ones") {
    for (double const bad : {-.1, 1., double(NAN)}) CHECK_THROWS_AS(local_momentum<>{bad}, argument_error);
    CHECK(to_string(local_momentum<>{}) == "local_momentum(0.9) of the full gradient");
    CHECK(to_string(local_momentum<>(.5, 8)) == "local_momentum(0.5) of mini_batch(8)");
}
