// SPDX-License-Identifier: Apache-2.0
// EF-SGD keeps its Lyapunov inequality every round, and leaves a floor of the order of its squared step.
#include "laconic/method/ef_sgd.hpp"

#include "laconic/any/compressor.hpp"
#include "laconic/compress/natural.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compress/threshold.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/method/gd.hpp"
#include "support/real_data.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace toys;

namespace {

// Half of every number: deterministic and linear.
struct halved {
    template <Scalar T, class B>
    using message = messages::full_vector<T, B>;

    void check(std::size_t) const {}
    template <class B, Scalar T>
    void blank(B&, std::size_t d, key, messages::full_vector<T, B>& m) const {
        m.values.resize(d);
    }
    template <class B, Scalar T>
    void operator()(B&, std::span<T const> x, key, messages::full_vector<T, B>& m) const {
        m.values.assign(x.begin(), x.end());
        for (T& v : m.values) v /= 2;
    }
    bool operator==(halved const&) const = default;
    friend std::string to_string(halved) { return "halved"; }
};

}  // namespace

TEST_CASE("it converges on the example of Beznosikov et al., with the known values") {
    auto const f = beznosikov();
    auto const whole = mean_of(f);
    lockstep run(composed(ef_sgd{top_k{1}, {.step = .01}}, f), f, vec(3, 1.0), 1);
    std::size_t done = 0;
    for (auto const& known : {std::pair<std::size_t, double>{1, 1.814755},
                              {2, 1.724188},
                              {3, 1.560334},
                              {100, .1785728},
                              {500, 1.267e-5}}) {
        run.rounds(known.first - done);
        done = known.first;
        CAPTURE(done);
        CHECK(whole.value(run.x()) == doctest::Approx(known.second).epsilon(done == 500 ? 5e-4 : 5e-7));
    }
}

TEST_CASE("a constant step leaves a floor of the order of its square") {
    auto const f = around({{3, 4}, {-1, -7}, {-2, 3}});
    for (auto const& known : {std::pair{.1, 2.34e-2}, {.01, 2.288e-4}, {.001, 2.277e-6}}) {
        lockstep run(composed(ef_sgd{top_k{1}, {.step = known.first}}, f), f, {1, 1}, 1);
        auto const rounds = static_cast<std::size_t>(40 / known.first);
        run.rounds(rounds - rounds / 4);
        double tail = 0;
        for (std::size_t k = 0; k < rounds / 4; ++k) {
            run.round();
            tail += norm2(run.x()) / static_cast<double>(rounds / 4);
        }
        CAPTURE(known.first);
        CHECK(tail == doctest::Approx(known.second).epsilon(3e-3));
    }
}

TEST_CASE("x - mean e takes uncompressed steps, and e is what was not sent") {
    auto const f = random_ridges(4, 6, 1, 2);
    auto const recursion = composed(ef_sgd{top_k{2}}, f);
    auto const states = history(recursion, f, vec(6, 1.0), 80);
    auto const whole = mean_of(f);
    auto const virtual_iterate = [&](std::size_t k) {
        vec v = states[k].x[0];
        auto const e = mean_of(states[k].residual);
        for (std::size_t j = 0; j < 6; ++j) v[j] -= e[j];
        return v;
    };
    double largest_error = 0;
    for (std::size_t k = 0; k < 80; ++k) {
        vec expected = virtual_iterate(k), g(6);
        whole.gradient(states[k].x[0], g);
        for (std::size_t j = 0; j < 6; ++j) expected[j] -= recursion.scale * g[j];
        CHECK(std::sqrt(distance2(virtual_iterate(k + 1), expected)) < 1e-13);
        for (auto const& e : states[k + 1].residual) {
            largest_error = std::max(largest_error, norm2(e));
            CHECK(std::count(e.begin(), e.end(), 0.0) >= 2);  // what is sent is sent exactly
        }
    }
    CHECK(largest_error > 1e-4);
}

namespace {

// How far V+ is above (1 - fall) V + floor in the worst of some rounds.
template <class F>
double excess(std::vector<F> const& f, problem const& p, known_optimum const& best, std::size_t kept, vec const& start,
              int rounds) {
    auto const recursion = composed(ef_sgd{top_k{kept}}, p);
    double const n = double(f.size()), d = double(p.dimension);
    double const step = recursion.scale, delta = double(kept) / d, l = p.smoothness;
    double const fall = std::min(step * p.strong_convexity / 2, delta / 4);
    double const floor = 48 * step * step * step * l * (1 - delta) / (delta * delta) * best.disagreement();
    lockstep run(recursion, f, start, 1);
    auto const virtual_iterate = [&] {
        vec moved = run.x();
        for (std::size_t i = 0; i < f.size(); ++i)
            for (std::size_t j = 0; j < moved.size(); ++j) moved[j] -= run.residual(i)[j] / n;
        return moved;
    };
    auto const lyapunov = [&](vec const& moved) {
        double errors = 0;
        for (std::size_t i = 0; i < f.size(); ++i) errors += norm2(run.residual(i)) / n;
        return distance2(moved, best.x) + 12 * step * l / delta * errors;
    };
    vec moved = virtual_iterate();
    double v = lyapunov(moved), worst = -1e300;
    double const first = v;
    for (int k = 0; k < rounds; ++k) {
        auto const g = mean_of(gradients(f, run.x()));
        for (std::size_t j = 0; j < moved.size(); ++j) moved[j] -= step * g[j];
        run.round();
        auto const now = virtual_iterate();
        CHECK(distance2(moved, now) <= 1e-26 * (norm2(start) + norm2(now)));  // an uncompressed step
        moved = now;
        double const next = lyapunov(moved);
        worst = std::max(worst, next - ((1 - fall) * v + floor));
        v = next;
    }
    CHECK(v < first + floor);
    return worst;
}

}  // namespace

TEST_CASE("the Lyapunov inequality of the header, every round, with the theorem's step") {
    for (std::uint64_t seed = 1; seed <= 4; ++seed)
        for (std::size_t kept : {1u, 2u, 4u, 6u}) {
            CAPTURE(seed);
            CAPTURE(kept);
            auto const f = random_ridges(4, 6, 1, seed);
            known_optimum const best(f);
            for (double const away : {.01, 1., 100.})
                CHECK(excess(f, constants(f), best, kept, vec(6, away), 300) <= 1e-12 * away * away);
        }
}

TEST_CASE("real data: the same inequality, every round") {
    auto const real = real_data(10);
    if (!real) return;
    for (std::size_t kept : {1u, 4u, 13u}) {
        CAPTURE(kept);
        CHECK(excess(real->f, real->p, real->best, kept, vec(13, 0.0), 400) <= 1e-13);
    }
}

TEST_CASE("for a linear compressor it is ef21: the same iterates, each message the step times what ef21 knows") {
    auto const f = random_ridges(3, 5, 1, 8);
    auto const p = constants(f);
    double const step = .5 / p.smoothness;
    recursion<halved, memory<>> errors{{}, {0, 1}, {1}}, differences{{}, {1, 0}, {step}};
    errors.scale = step;
    lockstep a(errors, f, vec(5, 1.0), 1), b(differences, f, vec(5, 1.0), 1);
    lockstep plain_descent(composed(gd{{.step = step}}, p), f, vec(5, 1.0), 1);
    for (int k = 0; k < 100; ++k) {
        a.round();
        b.round();
        plain_descent.round();
        CHECK(std::sqrt(distance2(a.x(), b.x())) < 1e-12);
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t j = 0; j < 5; ++j)
                CHECK(std::abs(a.message_of_rank(i).values[j] - step * b.known(i)[j]) < 1e-12);
        if (k == 10) CHECK(distance2(a.x(), plain_descent.x()) > 1e-4);  // nor is it gradient descent
    }
}

TEST_CASE("with everything kept it is gradient descent, and leaves nothing residual") {
    auto const f = random_ridges(4, 5, 1, 8);
    auto const p = constants(f);
    rates const given{.step = step_size{1, true}};
    auto const gradient = history(composed(gd{given}, p), f, vec(5, 1.0), 60);
    auto const kept = history(composed(ef_sgd{top_k{5}, given}, p), f, vec(5, 1.0), 60);
    for (std::size_t k = 0; k <= 60; ++k) {
        CHECK(std::sqrt(distance2(gradient[k].x[0], kept[k].x[0])) < 1e-12);
        for (auto const& e : kept[k].residual) CHECK(e == vec(5, 0.0));
    }
}

TEST_CASE("the step of the theorem, by hand") {
    problem const p{8, 5, 4, .5, 9, 6};
    auto const r = composed(ef_sgd{top_k{2}}, p);  // delta = 1/4: 0.25 / (14 sqrt(0.75 x 36))
    CHECK(r.scale == doctest::Approx(.25 / (14 * std::sqrt(27.))));
    CHECK(r.step.rate == 1);
    CHECK(r.feedback.keeps_residual());
    CHECK(r.feedback.rate() == 0);
    CHECK(composed(ef_sgd{top_k{8}}, p).scale == doctest::Approx(1. / 16));  // delta = 1: 1 / (4 L)
    CHECK(composed(ef_sgd{top_k{4} | natural{}}, p).scale ==
          doctest::Approx(.4375 / (14 * std::sqrt(.5625 * 36))));  // delta = (1 - 1/8) / 2
    CHECK(composed(ef_sgd{top_k{2}, {.step = step_size{2, true}}}, p).scale == .5);
}

TEST_CASE("wrong arguments are refused with the reason") {
    problem const p{8, 5, 4, .5, 9, 6};
    CHECK_THROWS_WITH_AS(composed(ef_sgd{threshold{.5}}, p), doctest::Contains("threshold(0.5)"), theory_error);
    CHECK_THROWS_WITH_AS(composed(ef_sgd{natural{}}, p), doctest::Contains("natural"), theory_error);
    CHECK_THROWS_WITH_AS(composed(ef_sgd{any_compressor<>(threshold{.5})}, p), doctest::Contains("threshold(0.5)"),
                         theory_error);
    CHECK_THROWS_WITH_AS(composed(ef_sgd{top_k{0}}, p), doctest::Contains("delta above 0"), theory_error);
    CHECK_THROWS_WITH_AS(composed(ef_sgd{top_k{4} | quantize{1}}, p), doctest::Contains("quantize(1)"), theory_error);
    CHECK_THROWS_WITH_AS(composed(ef_sgd{top_k{2}}, problem{8, 5, 0, 0, 9, 6}), doctest::Contains("smoothness L"),
                         theory_error);
    CHECK_THROWS_AS(composed(ef_sgd{top_k{2}, {.step = 0.}}, p), argument_error);
    CHECK(composed(ef_sgd{threshold{.5}, {.step = .1}}, p).scale == .1);
    auto const f = around({{3, 4}, {-1, -7}});
    CHECK_THROWS_AS(history(composed(ef_sgd{top_k{3}, {.step = .1}}, f), f, vec{1, 1}, 1), argument_error);
}

TEST_CASE("its text has its arguments") {
    CHECK(to_string(ef_sgd{top_k{.01} | natural{}}) == "ef_sgd(top_k(0.01) | natural)");
    CHECK(to_string(ef_sgd{top_k{3}, {.step = step_size{1, true}}}) == "ef_sgd(top_k(3), step=1/L)");
}
