// SPDX-License-Identifier: Apache-2.0
// GD-SEC sends fewer numbers, diverges or gets stuck where others have seen it. (Its theorem is in
// methods_theorems.cpp.)
#include "laconic/method/gd_sec.hpp"

#include "support/everything.hpp"
#include "support/tasks.hpp"

using namespace toys;

// Ridge regression of an ablation: 5 workers of 40 rows of 50 nearly normal numbers, the features'
// sizes rising from 0.1 to 1, lambda = 0.01, labels of a line except for noise of a tenth.
workers ablation_ridges() {
    key const from{1};
    std::uint64_t drawn = 0;
    auto const normal = [&] {
        double sum = -6;
        for (int i = 0; i < 12; ++i) sum += from.uniform(drawn++);
        return sum;
    };
    Eigen::VectorXd line(50);
    for (double& v : line) v = normal();
    workers f;
    for (int m = 0; m < 5; ++m) {
        Eigen::MatrixXd a(40, 50);
        for (Eigen::Index r = 0; r < 40; ++r)
            for (Eigen::Index j = 0; j < 50; ++j) a(r, j) = normal() * std::pow(10., double(j) / 49 - 1);
        Eigen::VectorXd y = a * line;
        for (double& v : y) v += .1 * normal();
        f.push_back({a.transpose() * a / 40 + .01 * Eigen::MatrixXd::Identity(50, 50), a.transpose() * y / 40,
                     y.squaredNorm() / 80});
    }
    return f;
}

struct course {
    std::size_t rounds = 0, values = 0, bytes = 0;
    double gap = 0;
};

// Rounds, numbers and bytes sent by all, until f - f* < 1e-10, until there have been too many rounds, or for ever more.
course run_to_optimum(any_recursion<> const& recursion, task const& t, std::size_t most) {
    using message = detail::message_of<threshold<>>;
    any_run run(recursion, t.f, t.start, 1);
    course c;
    for (;; ++c.rounds) {
        c.gap = t.gap(run.x());
        if (c.gap < 1e-10 || c.rounds == most || !(c.gap < 1e12)) return c;
        run.round();
        for (std::size_t i = 0; i < t.f.size(); ++i) {
            if (run.message_of_rank(i).holds<message>())
                c.values += run.message_of_rank(i).get<message>().support.size();
            c.bytes += run.bytes_of_rank(i);
        }
    }
}
std::string sec(double xi, double beta, std::string const& more = "") {
    return "gd_sec(xi=" + detail::shortest(xi) + ", beta=" + detail::shortest(beta) + more + ")";
}

// There kappa is 68 and gradient descent takes 546 rounds of 250 numbers; the lines below took 546, 548, 772, 892, 1058
// and 1921 rounds, and 130708, 57504, 58698, 18509, 12915 and 54325 numbers; without memory (xi = 20) or errors (xi =
// 50) it was stuck at 5.6e-5 and 1.7e-2. A compiler that fuses products may change ours a little. At xi = 200, which is
// too large, it may change all: of 12 starts that differ by 1e-14 three diverged, and nine took 22978 to 24961 numbers.
TEST_CASE("an ablation: what saves, what diverges, what gets stuck" * doctest::test_suite("slow")) {
    auto const f = ablation_ridges();
    auto const p = constants(f);
    auto const t = task_of("the ablation's", f, p, known_optimum(f), vec(50));
    auto const ends = [&](std::string const& method, std::size_t most) {
        return run_to_optimum(named(method, p), t, most);
    };
    CHECK(p.smoothness / p.strong_convexity == doctest::Approx(66.1).epsilon(.001));
    auto const dense = ends("gd", 1000);
    CHECK(dense.gap < 1e-10);
    CHECK(std::abs(double(dense.rounds) - 543) <= 2);
    auto const numbers = double(dense.rounds * 5 * 50);
    struct line {
        double xi, beta, rounds, values;
    };
    std::vector<course> runs;
    for (auto const& known : {line{1, .01, 543, 129911}, line{1, 1, 545, 55605}, line{5, .01, 753, 55166},
                              line{20, .01, 888, 20639}, line{100, .01, 1039, 14346}}) {
        CAPTURE(known.xi);
        CAPTURE(known.beta);
        auto const c = ends(sec(known.xi, known.beta), 5000);
        CHECK(c.gap < 1e-10);
        double const slack = known.xi <= 5 ? 1.1 : 1.3;
        CHECK(std::max(double(c.rounds) / known.rounds, known.rounds / double(c.rounds)) <= slack);
        CHECK(std::max(double(c.values) / known.values, known.values / double(c.values)) <= slack);
        runs.push_back(c);
    }
    for (std::size_t i = 2; i < 5; ++i) CHECK(runs[i].rounds > runs[i - 1].rounds);  // fewer numbers, more rounds
    for (std::size_t i = 2; i < 5; ++i) CHECK(runs[i].values < runs[i - 2].values);
    CHECK(runs[4].values < runs[3].values);
    auto const too_large = ends(sec(200, .01), 5000);
    CHECK(double(too_large.values) > 1.4 * double(runs[4].values));
    CHECK(numbers > 7 * double(runs[4].values));
    CHECK(64 * numbers > 6 * 8 * double(runs[4].bytes));  // positions included

    for (double const beta : {.1, 1.}) {  // large beta goes with small xi only
        CAPTURE(beta);
        CHECK(ends(sec(5, beta), 5000).gap > 1e12);
    }
    auto careless = named(sec(50, .01), p);
    careless.feedback = memory<>(.01, 0);
    CHECK(ends(sec(20, 0), 3000).gap > 1e-6);
    CHECK(run_to_optimum(careless, t, 3000).gap > 1e-3);

    // Steps that a theorem covers do not save as much.
    double const q = .5, step = (1 - q) / p.smoothness, c = step * p.strong_convexity;
    double const xi = std::sqrt(q / (2 * (1 - q) * (1 - q)) / (1 / (1 - c) + 1 / ((1 - c) * (1 - c))));
    auto const safe = ends(sec(xi, .5, ", step=" + detail::shortest(step)), 3000);
    CHECK(safe.gap < 1e-10);
    CHECK(safe.values > 3 * runs[4].values);
    CHECK(double(safe.values) < 1.5 * numbers);
}
