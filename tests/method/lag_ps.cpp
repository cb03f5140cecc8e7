// SPDX-License-Identifier: Apache-2.0
#include "laconic/method/lag_ps.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "toys.hpp"

using namespace laconic;
using namespace toys;

namespace {

// L_i = 1, 4, 9, ..
workers rising(int n) {
    workers f;
    for (int i = 0; i < n; ++i) {
        auto q = random_ridges(1, 8, .5, 20 + std::uint64_t(i))[0];
        double const scale = square(i + 1) / q.smoothness();
        f.push_back({q.h * scale, q.b * scale, 0});
    }
    return f;
}

}  // namespace

TEST_CASE("with its own L_i a rank is silent only where lag_wk would be, and the flat ones are silent most") {
    auto const f = rising(5);
    auto const p = constants(f);
    optimum const best(f);
    std::vector<std::size_t> uploads(5);
    std::vector<char> implied(5), reached(5);
    threads::run(5, [&](threads::member& comm) {
        auto const me = static_cast<std::size_t>(comm.rank());
        lag_ps const method{.04, 10, {}, f[me].smoothness()};
        auto recursion = method.compose<double, host>(p);
        double const step = recursion.step.rate;
        vec x(8, 0.0);
        descent<decltype(recursion), quadratic<>, threads::member> run(recursion, f[me], comm, x, 1);
        std::vector<double> moves;
        bool all = true;
        for (int k = 0; k < 4000; ++k) {
            vec const at = x;
            run.round();
            uploads[me] += run.method().level.spoke();
            double moved = 0;
            for (std::size_t d = 0; d < std::min<std::size_t>(10, moves.size()); ++d)
                moved += moves[moves.size() - 1 - d];
            if (!run.method().level.spoke()) {
                vec g(8);
                f[me].gradient(at, g);
                all = all && run.said().support.empty() &&
                      distance2(g, run.method().feedback.known()) <= .04 / (step * step) * moved * (1 + 1e-9) + 1e-24;
            }
            moves.push_back(distance2(x, at));
        }
        implied[me] = all;
        reached[me] = distance2(x, best.x) < 1e-18 * norm2(best.x);
    });
    CHECK(implied == std::vector<char>(5, true));
    CHECK(reached == std::vector<char>(5, true));
    CHECK(uploads[4] < 4000);
    for (std::size_t i = 1; i < 5; ++i) CHECK(uploads[i - 1] < uploads[i]);
    CHECK(4 * uploads[0] < uploads[4]);
}

TEST_CASE("with max L_i for all, everybody speaks in the same rounds") {
    auto const f = rising(3);
    auto const recursion = composed(lag_ps{.05, 10, {}}, f);
    lockstep run(recursion, f, vec(8, 0.0), 1);
    std::size_t spoke = 0;
    for (int k = 0; k < 300; ++k) {
        run.round();
        spoke += run.method(0).level.spoke();
        for (std::size_t i = 1; i < 3; ++i) CHECK(run.method(i).level.spoke() == run.method(0).level.spoke());
    }
    CHECK(spoke > 1);
    CHECK(spoke < 300);
}

TEST_CASE("its numbers, how it is written, and what it refuses") {
    problem const p{8, 5, 4, .5, 9, 6};
    auto const r = lag_ps{.01, 25, {}}.compose<double, host>(p);
    CHECK(r.step.rate == .125);
    CHECK(r.feedback.rate() == 1);
    CHECK(to_string(r.level) == "lag(xi=0.01, D=25, step=0.125, by the iterate)");
    CHECK(to_string(lag_ps{}) == "lag_ps(xi=0.05, D=10)");
    CHECK(to_string(lag_ps{.1, 3, {.step = .5}, 2}) == "lag_ps(xi=0.1, D=3, step=0.5)");
    auto const compose = [&](lag_ps const& m, problem const& of) { return m.compose<double, host>(of); };
    CHECK_THROWS_WITH_AS(compose({.1, 10, {}}, p), doctest::Contains("lag_ps: D xi = 1"), theory_error);
    CHECK_THROWS_WITH_AS(compose({.1, 1, {}, -1}, p), doctest::Contains("smoothness -1"), argument_error);
    CHECK_THROWS_WITH_AS(compose({.1, 1, {.step = .5}}, problem{}), doctest::Contains("max L_i"), theory_error);
    CHECK(compose({.1, 1, {.step = .5}, 3}, problem{}).step.rate == .5);
}
