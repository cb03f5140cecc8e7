// SPDX-License-Identifier: Apache-2.0
// LAG-PS and LAG-WK upload as often as numpy counts by the paper, flat ranks least. (Their theorem is in
// methods_theorems.cpp.)
#include "laconic/method/lag.hpp"

#include <random>

#include "support/everything.hpp"
#include "support/tasks.hpp"

using namespace toys;

// The synthetic linear regressions of the paper: 9 workers with 50 Gaussian rows (here sums of 12 uniform numbers) of
// 50 features each, sum of squares / 2 with L_m = (1.3^(m-1) + 1)^2.
workers of_the_paper() {
    std::minstd_rand draw(1);
    auto const normal = [&] {
        double sum = 0;
        for (int i = 0; i < 12; ++i) sum += static_cast<double>(draw()) / 2147483647;
        return sum - 6;
    };
    workers f;
    for (int m = 0; m < 9; ++m) {
        Eigen::MatrixXd a(50, 50);
        Eigen::VectorXd truth(50), noise(50);
        for (Eigen::Index i = 0; i < 50; ++i)
            for (Eigen::Index j = 0; j < 50; ++j) a(i, j) = normal();
        for (double& v : truth) v = normal();
        for (double& v : noise) v = normal();
        a *= (std::pow(1.3, m) + 1) / std::sqrt(solvers::eigenvalue(a.transpose() * a, 49));
        f.push_back({a.transpose() * a, a.transpose() * (a * truth + .1 * noise), 0});
    }
    return f;
}

TEST_CASE("the paper's synthetic recipe: as many uploads as a program that follows the paper counts") {
    // Counted by numpy, which draws the same numbers (x <- 48271 x mod 2^31 - 1 from x = 1), takes the eigenvalues of
    // A'A, keeps each worker's last iterate and gradient, and stops at f - f* <= 1e-8. With max L_m for
    // every worker it counts 1467 and 189.
    struct {
        std::string method;
        std::size_t rounds;  // 0: not known
        std::vector<std::size_t> uploads;
        std::size_t total;
    } const cases[] = {{"lag_ps", 154, {16, 20, 26, 32, 41, 53, 78, 140, 151}, 557},  // step (1 - sqrt(1 / 2)) / L
                       {"lag_ps(xi=1, step=1/L)", 67, {6, 6, 7, 9, 11, 15, 20, 28, 37}, 139},  // the paper's
                       {"lag_wk", 0, {}, 141},
                       {"lag_wk(xi=1, step=1/L)", 0, {}, 158}};
    auto const f = of_the_paper();
    auto const p = constants(f);
    auto const t = task_of("the paper's", f, p, known_optimum(f), vec(50));
    CHECK(p.largest_smoothness == doctest::Approx(square(std::pow(1.3, 8) + 1)));
    CHECK(p.smoothness == doctest::Approx(14.505292719844489));  // numpy's
    for (auto const& c : cases) {
        CAPTURE(c.method);
        std::vector<any_recursion<>> ranks;
        for (auto const& mine : f) {
            auto of_rank = p;
            of_rank.own_smoothness = mine.smoothness();
            ranks.push_back(named(c.method, of_rank));
        }
        any_run run(ranks, t.f, t.start, 0);
        std::vector<std::size_t> uploads(9);
        std::size_t rounds = 0;
        for (; rounds < 1000 && t.gap(run.x()) > 1e-8; ++rounds) {
            run.round();
            for (std::size_t i = 0; i < 9; ++i)
                uploads[i] += run.message_of_rank(i).get<detail::message_of<threshold<>>>().support.size() > 0;
        }
        if (c.rounds > 0) CHECK(rounds == c.rounds);
        if (c.rounds > 0) CHECK(uploads == c.uploads);
        CHECK(std::accumulate(uploads.begin(), uploads.end(), std::size_t(0)) == c.total);
    }
}
