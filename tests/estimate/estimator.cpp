// SPDX-License-Identifier: Apache-2.0
// The full gradient is the objective's, with the value where it is free, and Estimator asks for samples and slopes.
#include "laconic/estimate/estimator.hpp"

#include "support/everything.hpp"
#include "support/samples.hpp"
#include "support/states.hpp"
#include "support/sums.hpp"

// f(x) = (3/2) x^2, in one pass or in two.
struct parabola {
    std::size_t dimension() const { return 1; }
    double value(std::span<double const> x) const { return 1.5 * x[0] * x[0]; }
    void gradient(std::span<double const> x, std::span<double> g) const { g[0] = 3 * x[0]; }
};
struct fused_parabola : parabola {
    double value_and_gradient(std::span<double const> x, std::span<double> g) const {
        gradient(x, g);
        return value(x);
    }
};

// An estimator of the user's: the gradient, doubled.
struct doubled {
    template <class B, class F, Scalar T>
    std::optional<double> operator()(B&, F const& f, round_context const&, std::span<T const> x, std::span<T> g) {
        f.gradient(x, g);
        for (T& v : g) v *= 2;
        return std::nullopt;
    }
    template <class B, Scalar T>
    void update(B&, std::span<T const>) {}
};
struct without_update : doubled {
    void update() = delete;
};
struct without_value {
    void operator()(host&, parabola const&, round_context const&, std::span<double const>, std::span<double>) {}
    void update(host&, std::span<double const>) {}
};

static_assert(Estimator<mini_batch, parabola> && Estimator<mini_batch, fused_parabola>);
static_assert(Estimator<doubled, parabola> && !Estimator<without_update, parabola> &&
              !Estimator<without_value, parabola>);
static_assert(Estimator<mini_batch, logistic_regression<float>, float>);

// Any objective has a mini batch of all; the others need samples, SAGA slopes as well.
struct sampled : parabola {
    std::size_t samples() const { return 2; }
    void batch_gradient(std::span<std::uint32_t const>, std::span<double const> x, std::span<double> g) const {
        gradient(x, g);
    }
};
static_assert(Estimator<mini_batch, parabola> && !Estimator<l_svrg<>, parabola> && !Estimator<saga<>, parabola>);
static_assert(Estimator<mini_batch, sampled> && Estimator<l_svrg<>, sampled> && !Estimator<saga<>, sampled>);
static_assert(Estimator<l_svrg<>, logistic_regression<>> && Estimator<saga<>, logistic_regression<>>);
static_assert(Estimator<l_svrg<float>, logistic_regression<float>, float> &&
              Estimator<saga<float>, logistic_regression<float>, float>);
static_assert(!Estimator<saga<>, logistic_regression<float>, float>);

TEST_CASE("the full gradient, and the value where it comes for nothing") {
    host on;
    mini_batch e;
    std::array<double, 1> const x{2};
    std::array<double, 1> g{};
    std::span<double const> const at(x);
    CHECK_FALSE(e(on, parabola{}, round_context{}, at, std::span<double>(g)).has_value());
    CHECK(g[0] == 6);
    g[0] = 0;
    CHECK(e(on, fused_parabola{}, round_context{}, at, std::span<double>(g)) == 6.);
    CHECK(g[0] == 6);
    e.update(on, at);
    CHECK(to_string(e) == "the full gradient");
}

// A mini batch draws rows evenly, is unbiased with one row's variance over its size, and needs samples.

using namespace samples;

TEST_CASE("rows are drawn from all, each as often, with repetitions, as the key says") {
    std::vector<std::uint32_t> drawn, again;
    std::vector<int> count(7);
    detail::draw_rows(key{3}, 7, 70000, drawn);
    CHECK(drawn.size() == 70000);
    for (auto const j : drawn) ++count.at(j);
    for (int const c : count) CHECK(std::abs(c - 10000) < 5 * std::sqrt(70000. / 7 * 6 / 7));  // five deviations
    detail::draw_rows(key{3}, 7, 70000, again);
    CHECK(again == drawn);
    detail::draw_rows(key{4}, 7, 70000, again);
    CHECK(again != drawn);
    detail::draw_rows(key{3}, 7, 5, again);  // fewer are the first ones
    CHECK(std::equal(again.begin(), again.end(), drawn.begin()));
}

TEST_CASE("unbiased, with one sample's variance over the size, over all that may be drawn") {
    auto const f = logistic_of(5, 4, 2);
    auto const x = point(4, 3);
    auto const whole = gradient_of(f, x);
    double of_one = 0;
    for (std::uint32_t j = 0; j < 5; ++j) {
        auto const g = gradient_of_row(f, j, x);
        for (std::size_t i = 0; i < 4; ++i) of_one += (g[i] - whole[i]) * (g[i] - whole[i]) / 5;
    }
    CHECK(of_one > 0.01);
    for (std::size_t const size : {1u, 2u, 3u}) {
        CAPTURE(size);
        mini_batch e{size};
        moments const found(e, f, all_draws(5, size), x);
        CHECK(distance(found.mean, whole) < 1e-14);
        CHECK(found.variance == doctest::Approx(of_one / static_cast<double>(size)).epsilon(1e-10));
    }
}

TEST_CASE("a batch is the mean of its rows' gradients, and the same when it is computed again") {
    auto const f = logistic_of(6, 3, 4);
    auto const x = point(3, 1);
    mini_batch e(4);
    auto const now = round_context::of({5}, 2, 1, 3);
    std::vector<std::uint32_t> drawn;
    detail::draw_rows(now.gradient, 6, 4, drawn);
    vec expected(3);
    for (auto const j : drawn) {
        auto const g = gradient_of_row(f, j, x);
        for (std::size_t i = 0; i < 3; ++i) expected[i] += g[i] / 4;
    }
    auto const found = estimated(e, f, now, x);
    CHECK(distance(found, expected) < 1e-15);
    CHECK(estimated(e, f, now, x) == found);
    CHECK(estimated(e, f, round_context::of({5}, 2, 2, 3), x) != found);  // every rank draws for itself
}

TEST_CASE("no size stands for the full gradient, which any objective has; else it needs samples") {
    struct plain_objective {
        std::size_t dimension() const { return 1; }
        double value(std::span<double const> x) const { return x[0]; }
        void gradient(std::span<double const>, std::span<double> g) const { g[0] = 1; }
    };
    auto const f = logistic_of(5, 3, 2);
    auto const x = point(3, 7);
    mini_batch all, some = 2;
    host on;
    vec g(3), one(1);
    auto const value = all(on, f, round_context{}, std::span<double const>(x), std::span<double>(g));
    CHECK(value == f.value(x));
    CHECK(g == gradient_of(f, x));
    CHECK_FALSE(some(on, f, round_context{}, std::span<double const>(x), std::span<double>(g)).has_value());
    CHECK(estimated(all, plain_objective{}, round_context{}, {5}) == vec{1});
    CHECK_THROWS_WITH_AS(estimated(some, plain_objective{}, round_context{}, {5}),
                         "batch = 2: this objective has no samples to draw from; it needs samples() and "
                         "batch_gradient(rows, x, g)",
                         argument_error);
}

TEST_CASE("its text has its arguments") {
    CHECK(to_string(mini_batch{}) == "the full gradient");
    CHECK(to_string(mini_batch{32}) == "mini_batch(32)");
}

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
                    CHECK(std::abs(double(cut[i]) - known) <= 1e-6 * std::abs(known));
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

// f(x) = h x^2 / 2 - b x, as a mean of two rows with b one more and one less.
struct bowl {
    double h = 1, b = 0;
    std::size_t dimension() const { return 1; }
    double value(std::span<double const> x) const { return h * x[0] * x[0] / 2 - b * x[0]; }
    void gradient(std::span<double const> x, std::span<double> g) const { g[0] = h * x[0] - b; }
    std::size_t samples() const { return 2; }
    void batch_gradient(std::span<std::uint32_t const> rows, std::span<double const> x, std::span<double> g) const {
        g[0] = h * x[0] - b;
        for (auto const r : rows) g[0] += (r == 0 ? 1. : -1.) / static_cast<double>(rows.size());
    }
};
static_assert(Estimator<local_steps<>, bowl>);

// A round with that many steps.
round_context round_of(local_steps<> const& e, std::uint64_t steps) {
    for (std::uint64_t k = 0;; ++k)
        if (auto const now = round_context::of(key{2}, k, 0, 2); e.steps(now) == steps) return now;
}

double estimated(local_steps<>& e, bowl const& f, round_context const& now, double at) {
    host on;
    vec const x{at};
    vec g(1);
    e(on, f, now, std::span<double const>(x), std::span<double>(g));
    return g[0];
}

TEST_CASE("one, two and three steps by hand, and the shift after them") {
    local_steps<> e(.5, .25);
    bowl const f{2, 4};
    host on;
    // From x = 0: y <- y + 1 - y / 2, so 1, 1.5, 1.75.
    CHECK(estimated(e, f, round_of(e, 1), 0) == -4);
    CHECK(estimated(e, f, round_of(e, 3), 0) == -7);
    CHECK(estimated(e, f, round_of(e, 2), 0) == -6);
    CHECK(estimated(e, f, round_of(e, 2), 0) == -6);  // asking changes nothing
    vec const next{1};
    e.update(on, std::span<double const>(next));  // h += 2 (1 - 1.5)
    CHECK(e.shift()[0] == -1);
    // From x = 1: y <- y + 1 - y / 2 - 0.25, so 1.25, 1.375.
    CHECK(estimated(e, f, round_of(e, 2), 1) == -1.5);
}

TEST_CASE("the number of steps is geometric, and the same on all ranks") {
    local_steps<> const e(.2, 1), always(1, 1);
    double sum = 0, ones = 0;
    for (std::uint64_t k = 0; k < 4000; ++k) {
        auto const n = e.steps(round_context::of(key{5}, k, 0, 3));
        CHECK(n == e.steps(round_context::of(key{5}, k, 2, 3)));
        CHECK(always.steps(round_context::of(key{5}, k, 0, 3)) == 1);
        sum += static_cast<double>(n);
        ones += n == 1;
    }
    CHECK(std::abs(sum / 4000 - 5) < 5 * std::sqrt(.8) / .2 / std::sqrt(4000.));
    CHECK(std::abs(ones - 800) < 5 * std::sqrt(4000 * .2 * .8));
}

TEST_CASE("with the right shift, local steps stay at the optimum of all") {
    local_steps<> e(.25, .5);
    bowl const f{1, 3};
    host on;
    for (int k = 0; k < 400; ++k) {  // the other rank pulls as much the other way: the mean is 0
        estimated(e, f, round_context::of(key{1}, std::uint64_t(k), 0, 2), 0);
        vec const next{0};
        e.update(on, std::span<double const>(next));
    }
    CHECK(e.shift()[0] == doctest::Approx(-3));
    CHECK(std::abs(estimated(e, f, round_of(e, 4), 0)) < 1e-12);
}

TEST_CASE("with a batch every step draws its own row; in full the value comes for nothing where it is fused") {
    local_steps<> e(.5, 1, 1);
    bowl const f{0, 0};
    bool differed = false;
    for (std::uint64_t k = 0; k < 200; ++k) {
        auto const now = round_context::of(key{4}, k, 0, 2);
        if (e.steps(now) == 2) differed = differed || estimated(e, f, now, 0) == 0;  // one up, one down
    }
    CHECK(differed);
    struct fused : bowl {
        double value_and_gradient(std::span<double const> x, std::span<double> g) const {
            gradient(x, g);
            return value(x);
        }
    };
    host on;
    local_steps<> whole(.5, .1);
    vec const x{3};
    vec g(1);
    CHECK(whole(on, fused{{2, 1}}, round_of(whole, 2), std::span<double const>(x), std::span<double>(g)) == 6);
}

TEST_CASE("what it remembers is saved, and wrong arguments are refused") {
    host on;
    local_steps<> e(.5, .25), other(.5, .25);
    bowl const f{2, 4};
    estimated(e, f, round_of(e, 2), 0);
    vec const next{1};
    e.update(on, std::span<double const>(next));
    restore_from(e, other);
    CHECK(estimated(other, f, round_of(e, 3), 1) == estimated(e, f, round_of(e, 3), 1));
    CHECK(other.shift()[0] == -1);
    for (double const p : {0., -.1, 1.1, 9e-7, std::nan("")}) CHECK_THROWS_AS(local_steps<>(p, 1), argument_error);
    CHECK_NOTHROW(local_steps<>(1e-6, 1));
    for (double const step : {0., -.1, std::nan("")}) CHECK_THROWS_AS(local_steps<>(.5, step), argument_error);
    CHECK(to_string(e) == "local_steps(p=0.5, step=0.25), the full gradient");
    CHECK(to_string(local_steps<>(.5, .25, 3)) == "local_steps(p=0.5, step=0.25), mini_batch(3)");
}

TEST_CASE("numbers are cut at the largest magnitude, and NaN stays") {
    host on;
    std::vector<float> x{3, -3, 2, -2, 1, -0.0f, NAN};
    at_each_index(on, x.size(), detail::cut_numbers<float>{2, x});
    CHECK(std::isnan(x.back()));
    x.pop_back();
    CHECK(x == std::vector<float>{2, -2, 2, -2, 1, 0});
}
