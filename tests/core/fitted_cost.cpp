// SPDX-License-Identifier: Apache-2.0
// The fit of a cost to timings makes the sum of squared relative errors least, with no price below 0.
#include "laconic/core/fitted_cost.hpp"

#include "support/everything.hpp"

using timings = std::vector<timing>;

// The sum that the fit makes least.
double squares(timings const& all, double per_bit, double per_message) {
    double sum = 0;
    for (auto const& t : all) {
        double const e = (per_bit * t.bits + per_message - t.seconds) / t.seconds;
        sum += e * e;
    }
    return sum;
}

// No cost near the fit, and none of very different size, does better.
void is_the_best(timings const& all) {
    auto const best = fit_cost(all);
    CHECK(best.per_bit >= 0);
    CHECK(best.per_message >= 0);
    CHECK(best.payload == 0);
    double const least = squares(all, best.per_bit, best.per_message);
    double const bit = all.back().seconds / all.back().bits, message = all.front().seconds;
    for (double const step : {1e-4, 1e-2, 1.})
        for (double const a : {-step, 0., step})
            for (double const c : {-step, 0., step}) {
                double const per_bit = std::max(0., best.per_bit + a * bit);
                double const per_message = std::max(0., best.per_message + c * message);
                CHECK(squares(all, per_bit, per_message) >= least * (1 - 1e-9));
            }
}

timings times_of(double per_bit, double per_message, double noise = 0, std::uint64_t seed = 0) {
    timings all;
    for (double bits = 64; bits < 1e8; bits *= 4)
        all.push_back({bits, (per_bit * bits + per_message) * (1 + noise * (2 * key{seed}.uniform(all.size()) - 1))});
    return all;
}

TEST_CASE("two messages: the line through them, by hand") {
    auto const cost = fit_cost(timings{{100, 3}, {300, 7}});  // 1 + bits / 50
    CHECK(cost.per_bit == doctest::Approx(.02).epsilon(1e-12));
    CHECK(cost.per_message == doctest::Approx(1).epsilon(1e-12));
    CHECK(cost(500) == doctest::Approx(11));
}

TEST_CASE("exact times give the cost back, over nine decades of either price") {
    for (double const per_bit : {1e-12, 1e-9, 1e-3})
        for (double const per_message : {1e-7, 1e-4, 1e2}) {
            CAPTURE(per_bit);
            CAPTURE(per_message);
            auto const cost = fit_cost(times_of(per_bit, per_message));
            // What a price is of the time where it is most of it bounds what rounding leaves of it.
            double const share = std::min({1., per_bit * 1e7 / per_message, per_message / (per_bit * 64)});
            CHECK(cost.per_bit == doctest::Approx(per_bit).epsilon(1e-13 / share).scale(0));
            CHECK(cost.per_message == doctest::Approx(per_message).epsilon(1e-13 / share).scale(0));
        }
}

TEST_CASE("noisy times: within the noise, at every size, and no other cost is nearer") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        auto const all = times_of(1e-9, 5e-5, .1, seed);
        auto const cost = fit_cost(all);
        CHECK(cost.per_bit == doctest::Approx(1e-9).epsilon(.1).scale(0));
        CHECK(cost.per_message == doctest::Approx(5e-5).epsilon(.1).scale(0));
        CHECK(squares(all, cost.per_bit, cost.per_message) <= squares(all, 1e-9, 5e-5));
        is_the_best(all);
    }
}

TEST_CASE("a relative error counts alike wherever it is: scaling one size's times moves the fit as by hand") {
    // Three messages, the line 1 + x at 1 and 1000; at 2 it takes 4 for 3. Left out of both ends the fit is exact.
    timings const all{{1, 2}, {2, 4}, {1000, 1001}};
    // Normal equations of sum (a x/t + c/t - 1)^2 with x/t = 1/2, 1/2, 1000/1001 and 1/t = 1/2, 1/4, 1/1001.
    double const r[] = {.5, .5, 1000. / 1001}, s[] = {.5, .25, 1. / 1001};
    double rr = 0, rs = 0, ss = 0, r1 = 0, s1 = 0;
    for (int i = 0; i < 3; ++i) rr += r[i] * r[i], rs += r[i] * s[i], ss += s[i] * s[i], r1 += r[i], s1 += s[i];
    double const det = rr * ss - rs * rs;
    auto const cost = fit_cost(all);
    CHECK(cost.per_bit == doctest::Approx((r1 * ss - s1 * rs) / det).epsilon(1e-12));
    CHECK(cost.per_message == doctest::Approx((s1 * rr - r1 * rs) / det).epsilon(1e-12));
    is_the_best(all);
}

TEST_CASE("no price is below 0: what is left is then the best alone") {
    timings const falling{{100, 4}, {200, 2}};  // per_message: sum 1/t / sum 1/t^2 = (3/4) / (5/16)
    CHECK(fit_cost(falling).per_bit == 0);
    CHECK(fit_cost(falling).per_message == doctest::Approx(2.4).epsilon(1e-14));
    is_the_best(falling);
    timings const steep{{1, 1}, {2, 4}};  // per_bit: sum x/t / sum (x/t)^2 = (3/2) / (5/4)
    CHECK(fit_cost(steep).per_bit == doctest::Approx(1.2).epsilon(1e-14));
    CHECK(fit_cost(steep).per_message == 0);
    is_the_best(steep);
    timings const level{{100, 3}, {200, 3}};
    CHECK(fit_cost(level) == affine_cost(0, 3));
    timings const proportional{{128, 2}, {256, 4}};
    CHECK(fit_cost(proportional).per_bit == doctest::Approx(1. / 64));
    CHECK(fit_cost(proportional).per_message < 1e-14);
}

TEST_CASE("times and sizes of any magnitude") {
    for (double const unit : {1e-280, 1e-150, 1e150}) {
        CAPTURE(unit);
        auto const cost = fit_cost(timings{{100, 3 * unit}, {300, 7 * unit}});
        CHECK(cost.per_bit / unit == doctest::Approx(.02).epsilon(1e-12));
        CHECK(cost.per_message / unit == doctest::Approx(1).epsilon(1e-12));
    }
    CHECK(fit_cost(timings{{1e200, 3}, {3e200, 7}}).per_bit == doctest::Approx(2e-200).epsilon(1e-12).scale(0));
    CHECK(fit_cost(timings{{1, 1e-160}, {2, 1e160}})(1) == doctest::Approx(1e-160).scale(0));
    CHECK_THROWS_AS(fit_cost(timings{{1e-200, 1e200}, {2e-200, 2e200}}), argument_error);  // no number per bit
}

TEST_CASE("what no cost can be fitted to is refused") {
    double const inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_WITH_AS(fit_cost(timings{}), doctest::Contains("fewer than two sizes"), argument_error);
    CHECK_THROWS_WITH_AS(fit_cost(timings{{8, 1}}), doctest::Contains("fewer than two sizes"), argument_error);
    CHECK_THROWS_WITH_AS(fit_cost(timings{{8, 1}, {8, 2}}), doctest::Contains("fewer than two sizes"), argument_error);
    for (double const bad : {0., -1., inf, nan}) {
        CHECK_THROWS_WITH_AS(fit_cost(timings{{8, 1}, {16, bad}}), doctest::Contains("16 bits timed at"),
                             argument_error);
        CHECK_THROWS_WITH_AS(fit_cost(timings{{bad, 1}, {16, 1}}), doctest::Contains("a timed message of"),
                             argument_error);
    }
}
