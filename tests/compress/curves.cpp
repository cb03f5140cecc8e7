// SPDX-License-Identifier: Apache-2.0
// The histogram has each magnitude in the bin of its square, and curves rank levels by it within its error.
#include "laconic/compress/curves.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

// Many equal ones, gaps, and numbers too small to count.
std::vector<double> mixed_numbers() {
    std::vector<double> x{1, -1, 1, 0, 0};
    for (int i = 1; i <= 300; ++i) x.push_back(std::pow(i, -1.5) * (i % 2 ? 1 : -1));
    for (int i = 0; i < 200; ++i) x.push_back(-0.01);
    for (int i = 0; i < 50; ++i) x.push_back(1e-20);
    return x;
}
template <class B = host, class T>
detail::histogram histogram_of(std::vector<T> const& x) {
    B on;
    detail::histogram h;
    h.fill(on, std::span<T const>(x), largest_magnitude(on, std::span<T const>(x)));
    return h;
}

TEST_CASE_TEMPLATE("every number is in the bin that stands for it, the smallest in none", T, float, double) {
    std::vector<T> x{3, -0x1p-40, -0x1p-46, 0x1p-47, 0, 1.5, -0x1p-17, T(2.9999)};
    auto const h = histogram_of(x);
    CHECK(std::accumulate(h.counts.begin(), h.counts.end(), std::size_t{0}) == 6);
    std::sort(x.begin(), x.end(), [](T a, T b) { return std::abs(a) > std::abs(b); });
    auto next = x.begin();
    for (std::size_t b = 0; b < h.counts.size(); ++b)
        for (std::uint32_t n = 0; n < h.counts[b]; ++n, ++next) {
            double const square = double(*next) / 2 * double(*next) / 2;  // where the largest is in [1, 2)
            CHECK(square <= h.bins.square(b) * (1 + 0x1p-8));
            CHECK(square >= h.bins.square(b) / (1 + 0x1p-8));
        }
    CHECK(h.counts == histogram_of<reference>(x).counts);
}

TEST_CASE("of floats and of the same doubles, and at any power of two, it is the same") {
    std::vector<float> x, huge, subnormal;
    std::vector<double> wide;
    for (int i = 1; i < 2000; ++i) {
        x.push_back(std::ldexp(float(i * i % 1009), i % 30));
        wide.push_back(x.back());
        huge.push_back(std::ldexp(x.back(), 80));
        subnormal.push_back(std::ldexp(x.back(), -149));
    }
    auto const counts = histogram_of(x).counts;
    CHECK(histogram_of(wide).counts == counts);
    CHECK(histogram_of(huge).counts == counts);
    CHECK(histogram_of(subnormal).counts == counts);
    for (double& v : wide) v = std::ldexp(v, -1074);
    CHECK(histogram_of(wide).counts == counts);
}

TEST_CASE_TEMPLATE("a curve over its price is the share that is kept, to within (1 + 2^-8)^2 between any two levels", C,
                   top_k<>, top_k<scaled_sign>, proportional<identity, true>) {
    auto const x = mixed_numbers();
    auto h = histogram_of(x);
    auto const q = laws::kept_by_levels(C{}, x);
    auto curve = levels<C>::curve(C{}, h);
    double least = HUGE_VAL, most = 0;
    for (std::size_t k = 1; k <= x.size(); ++k) {
        double const worth = curve(k) / curve.price(k, 1);
        double const ratio = (std::same_as<C, top_k<scaled_sign>> ? worth * worth : worth) / q[k - 1];
        least = std::min(least, ratio);
        most = std::max(most, ratio);
    }
    CHECK(most / least < (1 + 0x1p-8) * (1 + 0x1p-8));
    CHECK(most / least > 1.0001);  // they are not the same
}

TEST_CASE_TEMPLATE("above(y) is the first level where the curve is above y", C, top_k<>, top_k<scaled_sign>,
                   proportional<identity, true>) {
    auto const x = mixed_numbers();
    auto h = histogram_of(x);
    std::vector<double> values;
    for (auto curve = levels<C>::curve(C{}, h); values.size() < x.size();) {
        values.push_back(curve(values.size() + 1));
        REQUIRE((values.size() == 1 || values.back() >= values[values.size() - 2]));
    }
    auto forward = levels<C>::curve(C{}, h);
    for (std::size_t k = 1; k <= x.size(); ++k) {
        double const y = values[k - 1] * (1 + 1e-9);
        auto const known = static_cast<std::size_t>(std::upper_bound(values.begin(), values.end(), y) - values.begin());
        auto fresh = levels<C>::curve(C{}, h);
        if (known < x.size()) {
            CHECK(fresh.above(y) == known + 1);
            CHECK(forward.above(y) == known + 1);
            CHECK(forward(known + 1) == values[known]);
        } else {
            CHECK(fresh.above(y) > x.size());
        }
    }
    CHECK(levels<C>::curve(C{}, h).above(0) == 1);
}

TEST_CASE_TEMPLATE("the best level by a curve is worth what the best of all is, to within the slack", C, top_k<>,
                   top_k<scaled_sign>, proportional<identity, true>) {
    auto const x = mixed_numbers();
    auto h = histogram_of(x);
    auto const curve = levels<C>::curve(C{}, h);
    auto const never_less = [&](auto cost) {
        auto const best = detail::best_on(curve, x.size(), cost);
        auto all = curve, chosen = curve;
        double most = 0;
        for (std::size_t k = 1; k <= x.size(); ++k) most = std::max(most, all(k) / all.price(k, cost(k)));
        CHECK(chosen(best) / chosen.price(best, cost(best)) >= most / (1 + 0x1p-10));
        return best;
    };
    for (double const fixed : {0., 3., 10., 100., 1e4, 1e6}) {
        never_less([&](std::size_t k) { return double(k) + fixed; });
        never_less([&](std::size_t k) { return std::ceil(double(k) / 17) + fixed / 17; });
        never_less([&](std::size_t k) { return std::sqrt(double(k)) + fixed; });
        never_less([&](std::size_t k) { return std::pow(double(k) + fixed, 1.3); });
        never_less([&](std::size_t k) { return k <= 100 ? 1. : fixed + 1; });
    }
    CHECK(never_less([](std::size_t k) { return k < 40 ? 1 : std::exp2(double(k)); }) < 40);
}

TEST_CASE("what costs nothing is sent at the lowest level, and what costs too much is not sent") {
    auto h = histogram_of(mixed_numbers());
    detail::largest_curve<true> const curve(h);
    CHECK(detail::best_on(curve, 300, [](std::size_t) { return 0.; }) == 1);
    CHECK(detail::best_on(curve, 300, [](std::size_t) { return HUGE_VAL; }) == 1);
    CHECK(detail::best_on(curve, 300, [](std::size_t k) { return k > 5 ? HUGE_VAL : 1; }) == 5);
    CHECK(detail::best_on(curve, 300, [](std::size_t k) { return k > 2 ? 1 : 0.; }) == 1);
}

TEST_CASE("few levels are looked at, most where all are worth as much") {
    std::vector<float> const equal(1 << 20, -3.f);
    auto h = histogram_of(equal);
    std::size_t looks = 0;
    detail::best_on(detail::largest_curve<true>(h), equal.size(), [&](std::size_t k) { return ++looks, double(k); });
    CHECK(looks < std::log(double(equal.size())) * (1 / 0x1p-10 + 1 / 0x1p-4));
    CHECK(looks > 5000);
    looks = 0;
    detail::best_on(detail::largest_curve<true>(h), equal.size(),
                    [&](std::size_t k) { return ++looks, double(k) + 1e4; });
    CHECK(looks < 1000);
}

TEST_CASE("all but one of 2^32 numbers at 2^-40: the draws that they take show") {
    detail::histogram h;
    h.make_room();
    h.bins = kernels::magnitude_bins(1);
    h.counts[0] = 1;
    h.counts[40 * kernels::magnitude_bins::per_octave] = 0xfffffffeu;
    detail::proportional_curve at_one(h), at_all(h);
    std::size_t const d = 0xffffffffu;
    CHECK(at_one(1) / at_all(d) == doctest::Approx(std::pow(1 + 0x1p-8, -2)).epsilon(1e-6));
    CHECK(detail::best_on(detail::proportional_curve(h), d, [](std::size_t) { return 1.; }) > 1);
    CHECK(detail::best_on(detail::proportional_curve(h), d, [](std::size_t k) { return double(k) + 1e3; }) < 10);
    CHECK(detail::best_on(detail::largest_curve<true>(h), d, [](std::size_t k) { return double(k); }) == 1);
    CHECK(detail::best_on(detail::largest_curve<false>(h), d, [](std::size_t) { return 1.; }) == 1);
}
