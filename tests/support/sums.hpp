// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "laconic/objective/objective.hpp"
#include "support/toys.hpp"

// Means of quadratics, for methods that draw rows.
namespace toys {

/// The mean of its rows, each a quadratic.
struct mean_of_rows {
    std::vector<quadratic<>> rows;
    quadratic<> whole;

    explicit mean_of_rows(std::vector<quadratic<>> all) : rows(std::move(all)), whole(mean_of(rows)) {}

    std::size_t dimension() const { return whole.dimension(); }
    std::size_t samples() const { return rows.size(); }
    double value(std::span<double const> x) const { return whole.value(x); }
    void gradient(std::span<double const> x, std::span<double> g) const { whole.gradient(x, g); }
    void batch_gradient(std::span<std::uint32_t const> of, std::span<double const> x, std::span<double> g) const {
        std::vector<double> each(g.size());
        std::fill(g.begin(), g.end(), 0);
        for (auto const j : of) {
            rows[j].gradient(x, each);
            for (std::size_t i = 0; i < g.size(); ++i) g[i] += each[i] / static_cast<double>(of.size());
        }
    }
};
static_assert(laconic::FiniteSum<mean_of_rows>);

/// The parts' wholes, as workers.
inline workers wholes(std::vector<mean_of_rows> const& f) {
    workers w;
    for (auto const& each : f) w.push_back(each.whole);
    return w;
}

/// constants() with what is known of the rows.
inline laconic::problem constants(std::vector<mean_of_rows> const& f) {
    auto p = constants(wholes(f));
    for (auto const& each : f) {
        p.samples = std::max(p.samples, each.samples());
        for (auto const& row : each.rows)
            p.largest_sample_smoothness = std::max(p.largest_sample_smoothness, row.smoothness());
    }
    return p;
}

/// n workers of m rows each; row j of worker i has the minimiser around[i] + spread (something random).
inline std::vector<mean_of_rows> random_sums(std::size_t n, std::size_t m, std::vector<vec> const& around,
                                             double spread, std::uint64_t seed) {
    std::vector<mean_of_rows> f;
    auto const d = static_cast<Eigen::Index>(around.at(0).size());
    for (std::size_t i = 0; i < n; ++i) {
        std::vector<quadratic<>> rows;
        Eigen::VectorXd total = Eigen::VectorXd::Zero(d);
        for (std::size_t j = 0; j < m; ++j) {
            auto const from = laconic::key{seed}.child(i).child(j);
            Eigen::VectorXd a(d), off(d);
            for (Eigen::Index c = 0; c < d; ++c) {
                a[c] = 2 * from.uniform(static_cast<std::uint64_t>(c)) - 1;
                off[c] = spread * (2 * from.uniform(static_cast<std::uint64_t>(d + c)) - 1);
            }
            if (j + 1 == m) off = -total;  // the rows' gradients at around[i] have the sum 0
            total += off;
            Eigen::MatrixXd const h = a * a.transpose() + 0.25 * Eigen::MatrixXd::Identity(d, d);
            rows.push_back({h, h * eigen(around[i]) + off, 0});
        }
        f.emplace_back(std::move(rows));
    }
    return f;
}

/// sigma^2: the mean variance of a row's gradient at x.
inline double variance_of_rows(std::vector<mean_of_rows> const& f, vec const& x) {
    double variance = 0;
    vec mean(x.size()), g(x.size());
    for (auto const& each : f) {
        each.gradient(x, mean);
        for (auto const& row : each.rows) {
            row.gradient(x, g);
            variance += distance2(g, mean) / static_cast<double>(each.samples() * f.size());
        }
    }
    return variance;
}

/// The mean of look(run) over what can be drawn in the first round of a run, `outcomes` iterates, all different and
/// equally likely: an expectation without an error.
template <class R, class F, class Look>
double first_round_mean(R const& recursion, std::vector<F> const& f, vec const& start, std::size_t outcomes,
                        Look look) {
    std::set<vec> seen;
    double mean = 0;
    for (std::uint64_t seed = 0; seen.size() < outcomes; ++seed) {
        lockstep<R, F> run(recursion, f, start, seed);
        run.round();
        if (seen.insert(run.x()).second) mean += look(run) / static_cast<double>(outcomes);
    }
    return mean;
}

}  // namespace toys
