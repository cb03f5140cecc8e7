// SPDX-License-Identifier: Apache-2.0
// Gradients are cut at a norm or at standard deviations, in any range of the type, and nothing not finite is hidden.
#include "laconic/estimate/clipped.hpp"

#include "support/everything.hpp"

using vec = std::vector<double>;

// f(x) = g . x, whose gradient is g everywhere.
template <class T>
struct slope_of {
    std::vector<T> g;
    std::size_t dimension() const { return g.size(); }
    double value(std::span<T const> x) const { return x.empty() ? 0 : static_cast<double>(g[0] * x[0]); }
    void gradient(std::span<T const>, std::span<T> out) const { std::copy(g.begin(), g.end(), out.begin()); }
};
static_assert(Estimator<clipped<>, slope_of<double>>);

template <class T>
std::vector<T> estimated_of(clipped<> e, std::vector<T> const& g) {
    host on;
    slope_of<T> const f{g};
    std::vector<T> const x(g.size());
    std::vector<T> out(g.size());
    e(on, f, round_context{}, std::span<T const>(x), std::span(out));
    std::vector<T> again(g.size());
    e(on, f, round_context{}, std::span<T const>(x), std::span(again));
    if (std::isfinite(g[0])) CHECK(again == out);
    return out;
}
vec estimated(clipped<> e, vec const& g) { return estimated_of<double>(e, g); }

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

// c, c + 1, c, c + 1 and so on, times a unit: the deviation is half a unit, whatever c is.
TEST_CASE_TEMPLATE("the deviation of numbers far from 0 does not cancel", T, float, double) {
    for (double const far : {0., 1., 4096., sizeof(T) == 4 ? 1e7 : 3e7, sizeof(T) == 4 ? 1.5e7 : 1e15})
        for (double const unit : {1., 0x1p-90, 0x1p90}) {
            CAPTURE(far);
            CAPTURE(unit);
            std::vector<T> g(1000);
            for (std::size_t i = 0; i < g.size(); ++i) g[i] = static_cast<T>((far + double(i % 2)) * unit);
            double const most = 2.5 * unit / 2;
            for (T const sign : {T(1), T(-1)}) {
                auto signed_g = g;
                for (T& v : signed_g) v *= sign;
                auto const cut = estimated_of<T>({{}, 2.5, clip_at::deviations}, signed_g);
                for (std::size_t i : {0u, 1u, 999u}) {
                    double const known = std::min(static_cast<double>(g[i]), most) * double(sign);
                    CHECK(cut[i] == doctest::Approx(known).epsilon(1e-6));
                }
            }
        }
}

// (1, 1, 1, -9) times a unit has the mean -1.5, the deviation sqrt(84 / 4 - 1.5^2) = sqrt(75 / 4) and the norm sqrt 84;
// 1000 of it have the same deviation, and their norm leaves the range of the type above.
TEST_CASE_TEMPLATE("squares, sums and norms that leave the range of the type clip as others do", T, float, double) {
    std::vector<double> const units = sizeof(T) == 4
                                          ? std::vector{1e-38, 1e-30, 1e-20, 1., 1e19, 1e30, 3e37}
                                          : std::vector{1e-300, 1e-200, 1e-160, 1e-154, 1., 1e153, 1e155, 1e200, 1e307};
    for (double const unit : units)
        for (std::size_t const times : {1u, 1000u}) {
            CAPTURE(unit);
            CAPTURE(times);
            std::vector<T> g;
            for (std::size_t i = 0; i < times; ++i)
                for (double const v : {1., 1., 1., -9.}) g.push_back(static_cast<T>(v * unit));
            auto const cut = estimated_of<T>({{}, 1.5, clip_at::deviations}, g);
            double const deviation = std::sqrt(75. / 4);
            CHECK(cut[0] == g[0]);
            CHECK(static_cast<double>(cut[3]) / unit == doctest::Approx(-1.5 * deviation).epsilon(1e-5));
            CHECK(estimated_of<T>({{}, 2.5, clip_at::deviations}, g) == g);  // 2.5 x 4.33 is above 9

            double const norm = std::sqrt(84. * double(times));
            for (double const limit : {unit, 1e-30, 1.}) {
                if (limit > unit || (unit < 1 && limit < unit)) continue;
                CAPTURE(limit);
                auto const less = estimated_of<T>({{}, limit, clip_at::norm}, g);
                // Subnormal numbers are multiples of the least one.
                double const least = static_cast<double>(std::numeric_limits<T>::denorm_min()) / limit;
                CHECK(std::abs(static_cast<double>(less[0]) / limit - 1 / norm) <= 1e-5 / norm + least);
                CHECK(std::abs(static_cast<double>(less[3]) / limit + 9 / norm) <= 1e-5 / norm + least);
            }
        }
}

TEST_CASE_TEMPLATE("subnormal numbers have a deviation and a norm", T, float, double) {
    T const tiny = std::numeric_limits<T>::denorm_min();
    std::vector<T> const g{100 * tiny, 100 * tiny, 100 * tiny, 900 * tiny};  // deviation 346.4
    CHECK(std::abs(estimated_of<T>({{}, 1.5, clip_at::deviations}, g)[3] / tiny - T(519.6)) < 1);
    CHECK(estimated_of<T>({{}, static_cast<double>(400 * tiny), clip_at::norm}, g) ==
          std::vector<T>{44 * tiny, 44 * tiny, 44 * tiny, 393 * tiny});  // the norm is 916.5
}

TEST_CASE("a limit of 0 cuts nothing") {
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

TEST_CASE("its text has its arguments") {
    CHECK(to_string(clipped<>{}) == "the full gradient");
    CHECK(to_string(clipped<>{{8}, 2, clip_at::norm}) == "mini_batch(8), clipped at 2");
    CHECK(to_string(clipped<>{{}, 2.5, clip_at::deviations}) ==
          "the full gradient, clipped at 2.5 standard deviations");
}
