// SPDX-License-Identifier: Apache-2.0
// Local steps are those by hand, as many on all ranks with a geometric law, and the right shift keeps the optimum.
#include "laconic/estimate/local_steps.hpp"

#include "support/everything.hpp"
#include "support/states.hpp"

using vec = std::vector<double>;

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
    for (double const p : {0., -.1, 1.1, 1e-12, std::nan("")}) CHECK_THROWS_AS(local_steps<>(p, 1), argument_error);
    for (double const step : {0., -.1, std::nan("")}) CHECK_THROWS_AS(local_steps<>(.5, step), argument_error);
    CHECK(to_string(e) == "local_steps(p=0.5, step=0.25), the full gradient");
    CHECK(to_string(local_steps<>(.5, .25, 3)) == "local_steps(p=0.5, step=0.25), mini_batch(3)");
}
