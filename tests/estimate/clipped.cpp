// SPDX-License-Identifier: Apache-2.0
#include "laconic/estimate/clipped.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

using namespace laconic;
using vec = std::vector<double>;

namespace {

// f(x) = g . x, whose gradient is g everywhere.
struct slope {
    vec g;
    std::size_t dimension() const { return g.size(); }
    double value(std::span<double const> x) const { return x.empty() ? 0 : g[0] * x[0]; }
    void gradient(std::span<double const>, std::span<double> out) const { std::copy(g.begin(), g.end(), out.begin()); }
};
static_assert(Estimator<clipped<>, slope>);

vec estimated(clipped<> e, vec const& g) {
    host on;
    vec const x(g.size());
    vec out(g.size());
    e(on, slope{g}, occasion{}, std::span<double const>(x), std::span(out));
    vec again(g.size());
    e(on, slope{g}, occasion{}, std::span<double const>(x), std::span(again));
    if (std::isfinite(g[0])) CHECK(again == out);
    return out;
}

}  // namespace

TEST_CASE("a norm is cut to the limit, a direction kept") {
    CHECK(estimated({{}, 5, clip_at::norm}, {3, 4}) == vec{3, 4});
    CHECK(estimated({{}, 10, clip_at::norm}, {3, 4}) == vec{3, 4});
    auto const cut = estimated({{}, 1, clip_at::norm}, {3, 4});
    CHECK(cut[0] == doctest::Approx(.6).epsilon(1e-15));
    CHECK(cut[1] == doctest::Approx(.8).epsilon(1e-15));
    CHECK(estimated({{}, 1, clip_at::norm}, {0, 0}) == vec{0, 0});
    CHECK(estimated({{}, 2, clip_at::norm}, {1e200, 0})[0] == doctest::Approx(2));  // squares overflow
}

TEST_CASE("numbers are cut at standard deviations: (1, 1, 1, 9) has the mean 3 and deviation sqrt 12") {
    auto const cut = estimated({{}, 1.5, clip_at::deviations}, {1, 1, 1, 9});
    CHECK(cut[0] == 1);
    CHECK(cut[3] == doctest::Approx(1.5 * std::sqrt(12.)).epsilon(1e-14));
    CHECK(estimated({{}, 2.5, clip_at::deviations}, {1, 1, 1, -9}) ==
          vec{1, 1, 1, -9});  // the mean is -1.5, the deviation sqrt(75 / 4)
    CHECK(estimated({{}, 2, clip_at::deviations}, {1, 1, 1, -9})[3] ==
          doctest::Approx(-2 * std::sqrt(75. / 4)).epsilon(1e-14));
}

TEST_CASE("a limit of 0 is none") {
    CHECK(estimated({}, {3, -400}) == vec{3, -400});
    CHECK(estimated({{}, 0, clip_at::deviations}, {1, 1, 1, 9}) == vec{1, 1, 1, 9});
}

TEST_CASE("what is not finite is not hidden") {
    double const infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
    host on;
    for (double const bad : {infinity, -infinity, nan})
        for (clip_at const unit : {clip_at::norm, clip_at::deviations}) {
            auto const out = estimated({{}, 1, unit}, {bad, 1, 2});
            CHECK(first_non_finite(on, std::span<double const>(out)) == 0);
        }
}

TEST_CASE("as it is written") {
    CHECK(to_string(clipped<>{}) == "the full gradient");
    CHECK(to_string(clipped<>{{8}, 2, clip_at::norm}) == "mini_batch(8), clipped at 2");
    CHECK(to_string(clipped<>{{}, 2.5, clip_at::deviations}) ==
          "the full gradient, clipped at 2.5 standard deviations");
}
