// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/test.hpp"
#include "support/toys.hpp"

// The theorem of lag_wk, for what keeps its rule.
namespace toys {

struct lag_course {
    double excess = -1;        ///< the most by which V was above (1 - c) times the last V
    std::size_t uploads = 0;   ///< messages that were not empty
    bool quiet = true;         ///< no rank sent nothing that had more to send than the rule allows
    std::vector<double> gaps;  ///< f - f* after each round
};

/// Runs rank i with recursions[i], D being 10.
template <class R, class F>
lag_course run_lag(std::vector<R> const& recursions, double xi, std::vector<F> const& f, laconic::problem const& p,
                   known_optimum const& best, vec const& start, int rounds) {
    std::size_t const D = 10;
    double const step = recursions[0].step.rate, c = step * p.strong_convexity / 2;
    vec beta(D);
    for (std::size_t d = D; d-- > 0;) beta[d] = (xi / (2 * step) + (d + 1 < D ? beta[d + 1] : 0)) / (1 - c);
    REQUIRE(beta[0] <= 1 / (2 * step) - p.smoothness / 2);
    lockstep<R, F> run(recursions, f, start, 1);
    vec moves(D);  // squared, the newest first
    auto const gap = [&] { return mean_value(f, run.x()) - best.value; };
    auto const lyapunov = [&] { return gap() + std::inner_product(beta.begin(), beta.end(), moves.begin(), 0.); };
    lag_course course;
    double v = lyapunov();
    for (int k = 0; k < rounds; ++k) {
        vec const x = run.x();
        double const bound = xi / (step * step) * std::accumulate(moves.begin(), moves.end(), 0.);
        run.round();
        auto const g = gradients(f, x);
        for (std::size_t i = 0; i < f.size(); ++i) {
            bool const sent = !run.message_of_rank(i).support.empty();
            course.uploads += sent;
            CHECK(run.method(i).level.sent() == sent);
            // What the others know of its gradient is that gradient or near it.
            double const off = distance2(g[i], run.known(i));
            course.quiet =
                course.quiet && (sent ? off < 1e-24 * (1 + norm2(g[i])) : off <= bound * (1 + 1e-12) + 1e-30);
        }
        std::rotate(moves.begin(), moves.end() - 1, moves.end());
        moves[0] = distance2(run.x(), x);
        double const next = lyapunov();
        course.excess = std::max(course.excess, next - (1 - c) * v);
        course.gaps.push_back(gap());
        v = next;
    }
    return course;
}

}  // namespace toys
