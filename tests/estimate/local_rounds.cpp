// SPDX-License-Identifier: Apache-2.0
// Rounds of a fixed number of local steps come to their fixed points; tests/method/methods_known.cpp has the way there.
#include "laconic/estimate/local_rounds.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/bowl_runs.hpp"
#include "support/everything.hpp"

using bowls::bowl, bowls::composed, bowls::course;
using vec = std::vector<double>;

static_assert(Estimator<local_rounds<>, bowl> && Estimator<local_rounds<adam<>>, bowl>);

TEST_CASE("of unlike quadratics the limit is the fixed point in closed form, and SCAFFOLD's the optimum") {
    auto const limit = [](auto const& method) { return course(composed(method), 400).back(); };
    // sum_i weight(a_ij) (x_j - b_ij) = 0
    auto const solves = [](vec const& x, auto weight) {
        for (std::size_t j = 0; j < x.size(); ++j) {
            double sum = 0, of = 0;
            for (int i = 0; i < bowls::ranks; ++i) {
                double const w = weight(bowls::a(i, j));
                sum += w * bowls::b(i, j), of += w;
            }
            CHECK(x[j] == doctest::Approx(sum / of).epsilon(1e-12));
        }
    };
    auto const power = [](double base, int h) { return std::pow(base, h); };
    solves(limit(local_sgd{7, 0, {.step = .125}}), [&](double a) { return 1 - power(1 - a / 8, 7); });
    solves(limit(local_sgd{4, .5, {.step = .125}}),
           [&](double a) { return a * (1 - power(1 - (a + .5) / 8, 4)) / (a + .5); });
    solves(limit(local_sgd{1, 0, {.step = .5}}), [](double a) { return a; });
    solves(limit(scaffold{7, {.step = .125}}), [](double a) { return a; });
}

TEST_CASE("SCAFFOLD is proxskip with equally many local steps in each round") {
    std::vector r(bowls::ranks, composed(proxskip{.2, {.step = .1}}));
    std::vector<bowl> f;
    for (int i = 0; i < bowls::ranks; ++i) f.push_back({i});
    std::vector<vec> x(bowls::ranks, vec(bowls::d, 1));
    for (auto const& known : course(composed(scaffold{5, {.step = .1}}), 60)) {
        for (std::size_t j = 0; j < bowls::d; ++j) REQUIRE(x[0][j] == doctest::Approx(known[j]).epsilon(1e-11));
        bowls::round_by_hand(r, f, x, bowls::of_steps(5, .2, bowls::ranks));
    }
}

TEST_CASE("the corrections of SCAFFOLD go to the gradients at the optimum") {
    fibers::run(bowls::ranks, [](fibers::member& comm) {
        vec x(bowls::d, 1);
        auto const r = scaffold{5, {.step = .1}}.compose<double, host>(problem{bowls::d, bowls::ranks});
        bowl const f{comm.rank()};
        descent run(r, f, comm, std::span<double>(x), 1);
        CHECK(run.method().estimator.correction().empty());
        for (int k = 0; k < 200; ++k) run.round();
        vec g(bowls::d);
        f.gradient(x, g);
        for (std::size_t j = 0; j < bowls::d; ++j) {
            CHECK(run.method().estimator.correction()[j] == doctest::Approx(g[j]).epsilon(1e-9));
            CHECK(std::abs(run.method().estimator.mean_correction()[j]) < 1e-9);
        }
    });
}

// Its gradient's numbers are `slope`, which a rank may set.
struct slope_of {
    float slope = 1;
    std::size_t dimension() const { return 3; }
    float value(std::span<float const>) const { return 0; }
    void gradient(std::span<float const>, std::span<float> g) const { std::ranges::fill(g, 0.f), g[1] = slope; }
};
template <class S>
void refuses_too_large_squares(S const& inner) {
    fibers::run(2, [&](fibers::member& comm) {
        recursion<identity, memory<float>, gradient_step, fixed_level, local_rounds<S, float>> const r{
            {}, {}, gradient_step{1}, {}, local_rounds<S, float>({.steps = 2}, inner)};
        std::vector<float> x(3, 1);
        slope_of f;
        descent run(r, f, comm, std::span(x), 1);
        run.round();
        auto const before = run.save();
        auto const at = x;
        f.slope = comm.rank() == 1 ? 1e21f : 2;
        CHECK_THROWS_WITH_AS(run.round(), "rank 1, round 1: the gradient is not finite at coordinate 1",
                             non_finite_error);
        CHECK(x == at);
        CHECK(run.save() == before);
        f.slope = 2;
        run.round();
        CHECK(run.rounds() == 2);
    });
}
TEST_CASE(
    "where the square of a local gradient is too large for its number the round is an error, and changes nothing") {
    refuses_too_large_squares(adam<float>({.rate = .1}));
    refuses_too_large_squares(rmsprop<float>(.1));
}

TEST_CASE("numbers that make no local round are refused") {
    CHECK_THROWS_AS(local_rounds<>({.steps = 0}), argument_error);
    CHECK_THROWS_AS(local_rounds<>({.pull = -1}), argument_error);
    CHECK_THROWS_AS(local_rounds<>({.corrected_for = NAN}), argument_error);
    CHECK(to_string(local_rounds<>({.steps = 3, .pull = .5, .batch = 4}, gradient_step{.1})) ==
          "local_rounds(3 of gradient_step(0.1), pull=0.5), mini_batch(4)");
    problem const p{8, 4, 1, 1, 1, 1, 1};
    CHECK_THROWS_WITH_AS((local_sgd{}.compose<double, host>(p)), doctest::Contains("give the step yourself"),
                         theory_error);
    CHECK_THROWS_WITH_AS((scaffold{}.compose<double, host>(p)), doctest::Contains("give the step yourself"),
                         theory_error);
    CHECK_THROWS_WITH_AS((diloco{identity{}}.compose<double, host>(p)), doctest::Contains("give the step yourself"),
                         theory_error);
}

TEST_CASE("an estimator says itself whether it corrects local steps") {
    using laconic::detail::corrects_local_steps;
    local_rounds<> const plain({.steps = 2}, gradient_step{.1});
    local_rounds<> const corrected({.steps = 2, .corrected_for = .1}, gradient_step{.1});
    CHECK_FALSE(corrects_local_steps(plain));
    CHECK(corrects_local_steps(corrected));
    CHECK(corrects_local_steps(local_steps<>(.5, .1)));
    CHECK_FALSE(corrects_local_steps(mini_batch{}));
    CHECK_FALSE(corrects_local_steps(any_estimator<>(plain)));
    CHECK(corrects_local_steps(any_estimator<>(corrected)));
}
