// SPDX-License-Identifier: Apache-2.0
// The trust-region loop on one rank, which is S-LSR1: known numbers of iterations, Newton's method where the model is
// exact, and negative curvature.
#include "laconic/second_order/sr1_descent.hpp"

#include "support/det6.hpp"
#include "support/everything.hpp"
#include "support/solvers.hpp"

double norm_of(std::vector<double> const& v) {
    return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.));
}

// The rounds on one rank until done(x), at most `most`; after_each(loop) looks at it.
template <class F, class Done, class Each>
std::size_t rounds_until(ds_lsr1<> const& method, F const& f, std::vector<double>& x, std::uint64_t seed,
                         std::size_t most, Done done, Each after_each) {
    std::size_t k = 0;
    threads::run(1, [&](threads::member& comm) {
        auto run = method.start<double>(problem{}, f, comm, std::span<double>(x), seed);
        for (; k < most && !done(x); ++k) {
            run.round();
            after_each(run);
        }
        CHECK(run.rounds() == k);
        CHECK(run.x().data() == x.data());
    });
    return k;
}
template <class F, class Done>
std::size_t rounds_until(ds_lsr1<> const& method, F const& f, std::vector<double>& x, std::uint64_t seed,
                         std::size_t most, Done done) {
    return rounds_until(method, f, x, seed, most, done, [](auto const&) {});
}
template <class F>
auto flatter_than(F const& f, double norm) {
    return [&f, norm](std::vector<double> const& x) {
        std::vector<double> g(x.size());
        f.gradient(x, g);
        return norm_of(g) < norm;
    };
}

struct rosenbrock {
    std::size_t dimension() const { return 2; }
    double value(std::span<double const> w) const {
        double const a = 1 - w[0], b = w[1] - w[0] * w[0];
        return a * a + 100 * b * b;
    }
    void gradient(std::span<double const> w, std::span<double> g) const {
        double const b = w[1] - w[0] * w[0];
        g[0] = -2 * (1 - w[0]) - 400 * w[0] * b;
        g[1] = 200 * b;
    }
    void hessian_times(std::span<double const> w, std::span<double const> v, std::span<double> out) const {
        out[0] = (2 - 400 * w[1] + 1200 * w[0] * w[0]) * v[0] - 400 * w[0] * v[1];
        out[1] = -400 * w[0] * v[0] + 200 * v[1];
    }
};

// x^2 / 2 - y^2 / 2 + y^4 / 4
struct two_valleys {
    std::size_t dimension() const { return 2; }
    double value(std::span<double const> w) const { return w[0] * w[0] / 2 - w[1] * w[1] / 2 + std::pow(w[1], 4) / 4; }
    void gradient(std::span<double const> w, std::span<double> g) const {
        g[0] = w[0];
        g[1] = -w[1] + std::pow(w[1], 3);
    }
    void hessian_times(std::span<double const> w, std::span<double const> v, std::span<double> out) const {
        out[0] = v[0];
        out[1] = (-1 + 3 * w[1] * w[1]) * v[1];
    }
};

TEST_CASE("T3.3: a convex quadratic, m = d and a large radius are one step of Newton's") {
    auto const f = det6::objective::of_all();
    std::vector<double> x(4);
    ds_lsr1<> const method{.memory = 4, .radius = 1e6, .forcing = 1e-12};
    auto const rounds = rounds_until(method, f, x, 1, 10, flatter_than(f, 1e-9), [](auto const& run) {
        CHECK(run.accepted());
        CHECK(run.last_search().why == steihaug_end::converged);
        CHECK(run.last_search().products <= 4);
    });
    CHECK(rounds == 1);
    double const best[] = {-.057736389575, -.075322779672, .137868761553, .152527961002};
    for (std::size_t i = 0; i < 4; ++i) CHECK(std::abs(x[i] - best[i]) < 1e-11);
    CHECK(f.value(x) == doctest::Approx(7.977236817871502).epsilon(1e-14));
}

TEST_CASE("T3.4: out of a saddle along negative curvature, in five iterations") {
    two_valleys const f;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        std::vector<double> x{1, 1e-3};
        bool curved_down = false;
        auto const rounds = rounds_until({.memory = 2}, f, x, seed, 50, flatter_than(f, 1e-6), [&](auto const& run) {
            curved_down = curved_down || run.last_search().why == steihaug_end::no_curvature;
        });
        CHECK(rounds == 5);
        CHECK(curved_down);
        CHECK(std::abs(x[0]) < 1e-5);
        CHECK(std::abs(x[1]) == doctest::Approx(1).epsilon(1e-5));
        CHECK(f.value(x) == doctest::Approx(-.25).epsilon(1e-9));
    }
}

TEST_CASE("T3.5: Rosenbrock's valley in 45 iterations with m = 2 = d, whatever is drawn; f never rises") {
    rosenbrock const f;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        std::vector<double> x{-1.2, 1};
        double last = f.value(x);
        auto const rounds = rounds_until({.memory = 2}, f, x, seed, 300, flatter_than(f, 1e-8), [&](auto const& run) {
            CHECK(f.value(run.x()) <= last);
            CHECK(run.accepted() == (f.value(run.x()) < last));
            CHECK(run.pairs().accepted().size() == 2);
            last = f.value(run.x());
        });
        CHECK(rounds == 45);
        CHECK(last < 1e-26);
    }
}

TEST_CASE("T3.5: with m = 1 it takes some 80 iterations") {
    rosenbrock const f;
    std::vector<std::size_t> rounds;
    for (std::uint64_t seed = 0; seed < 21; ++seed) {
        std::vector<double> x{-1.2, 1};
        rounds.push_back(rounds_until({.memory = 1}, f, x, seed, 2000, flatter_than(f, 1e-6)));
    }
    std::sort(rounds.begin(), rounds.end());
    CHECK(rounds.front() >= 60);
    CHECK(rounds[10] >= 72);
    CHECK(rounds[10] <= 90);
    CHECK(rounds.back() <= 110);
}

TEST_CASE("gamma above 0 gives steps shorter than the radius where pairs are few") {
    auto const f = det6::objective::of_all();
    std::vector<double> x(4);
    rounds_until(
        {.memory = 1, .gamma = 30, .radius = 100}, f, x, 1, 3, [](auto const&) { return false; },
        [](auto const& run) {
            CHECK(run.last_search().why == steihaug_end::converged);
            CHECK(run.last_search().norm < 1);
        });
    std::vector<double> flat(4);
    rounds_until(
        {.memory = 1, .radius = .1}, f, flat, 1, 1, [](auto const&) { return false; },
        [](auto const& run) { CHECK(run.last_search().norm == doctest::Approx(.1).epsilon(1e-12)); });
}

TEST_CASE("it comes as near to the minimum as numbers go, and stays there") {
    auto const f = det6::objective::of_all();
    std::vector<double> x(4);
    rounds_until({.memory = 4}, f, x, 1, 60, [](auto const&) { return false; });
    std::vector<double> g(4);
    f.gradient(x, g);
    CHECK(norm_of(g) < 1e-13);
}

// scale (x_0^2 + 2 x_1^2) / 2 from (1, 1), whose value away from there is `elsewhere` times as large.
struct in_range_of_squares {
    double scale, elsewhere = 1;
    std::size_t dimension() const { return 2; }
    double value(std::span<double const> x) const {
        return scale * (x[0] * x[0] / 2 + x[1] * x[1]) * (x[0] == 1 && x[1] == 1 ? 1 : elsewhere);
    }
    void gradient(std::span<double const> x, std::span<double> g) const {
        g[0] = scale * x[0], g[1] = scale * 2 * x[1];
    }
    void hessian_times(std::span<double const>, std::span<double const> v, std::span<double> out) const {
        out[0] = scale * v[0], out[1] = scale * 2 * v[1];
    }
};

TEST_CASE("squares that leave the range of numbers are an error, and x does not stand still in silence") {
    for (auto const how : {curvature_transport::ship_y, curvature_transport::gram})
        for (double const scale : {1e-170, 1e-145, 1e-100, 1., 1e100, 1e145, 1e155, 1e200, 1e300}) {
            std::vector<double> x{1, 1};
            in_range_of_squares const f{scale};
            bool threw = false;
            try {
                rounds_until({.memory = 2, .curvature = how}, f, x, 1, 40, [](auto const&) { return false; });
            } catch (error const&) {
                threw = true;
            }
            CAPTURE(scale);
            CHECK((threw || std::abs(x[0]) + std::abs(x[1]) < 1e-5));
            if (scale >= 1e-100 && scale <= 1e100) CHECK(!threw);
        }
    std::vector<double> x{1, 1};
    CHECK_THROWS_WITH_AS(
        rounds_until({.memory = 2}, in_range_of_squares{1e-170}, x, 1, 1, [](auto const&) { return false; }),
        "ds_lsr1, round 0: squares of the gradient's numbers underflow; scale the objective", error);
    CHECK_THROWS_WITH_AS(
        rounds_until({.memory = 2}, in_range_of_squares{1e200}, x, 1, 1, [](auto const&) { return false; }),
        "ds_lsr1, round 0: squares of the gradient's numbers overflow; scale the objective", error);
}

TEST_CASE("trial values that are never finite are an error") {
    std::vector<double> x{1, 1};
    CHECK_THROWS_AS(
        rounds_until({.memory = 2}, in_range_of_squares{1, HUGE_VAL}, x, 1, 60, [](auto const&) { return false; }),
        error);
    CHECK(x[0] == 1);
    std::vector<double> y{1, 1};  // finite ones that are no better are none: x may be the minimum
    CHECK(rounds_until({.memory = 2}, in_range_of_squares{1, 1e9}, y, 1, 100, [](auto const&) { return false; }) ==
          100);
}

TEST_CASE("a trial value that is not finite is refused, and the radius halves") {
    struct with_a_wall {  // -log x + x: none for x <= 0
        std::size_t dimension() const { return 1; }
        double value(std::span<double const> x) const { return x[0] - std::log(x[0]); }
        void gradient(std::span<double const> x, std::span<double> g) const { g[0] = 1 - 1 / x[0]; }
        void hessian_times(std::span<double const> x, std::span<double const> v, std::span<double> out) const {
            out[0] = v[0] / (x[0] * x[0]);
        }
    } const f;
    std::vector<double> x{10};
    double before = 100;
    rounds_until(
        {.memory = 1, .radius = 100}, f, x, 1, 1, [](auto const&) { return false; },
        [&](auto const& run) {
            CHECK(!run.accepted());
            CHECK(run.x()[0] == 10);
            CHECK(run.radius() == before / 2);
        });
    CHECK(rounds_until({.memory = 1, .radius = 100}, f, x, 1, 60, flatter_than(f, 1e-10)) < 30);
    CHECK(x[0] == doctest::Approx(1).epsilon(1e-9));
}
