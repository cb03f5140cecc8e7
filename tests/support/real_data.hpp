// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "laconic/objective/logistic_regression.hpp"
#include "support/toys.hpp"

// The real problem that theorems are held against.
namespace toys {

/// Workers on real data, all constants of their problem, and its optimum.
struct real_problem {
    std::vector<laconic::logistic_regression<>> f;
    laconic::problem p;
    known_optimum best;
};

/// Logistic regression on heart_scale, 270 rows of 13 numbers in [-1, 1], lambda = 1 / 270, dealt to 1 or 10 workers;
/// kappa is 188. Nothing, after a message that the test skips, where there are no data. (method/gd.cpp holds it against
/// optima.json.)
std::optional<real_problem> real_data(int ranks);

/// f_i(x) - grad f_i(x*) . x: the same f, its workers made to agree on the optimum.
struct tilted {
    laconic::logistic_regression<> f;
    vec tilt;

    std::size_t dimension() const { return f.dimension(); }
    std::size_t samples() const { return f.samples(); }
    double value(std::span<double const> x) const { return f.value(x) - dot(tilt, x); }
    void gradient(std::span<double const> x, std::span<double> g) const {
        f.gradient(x, g);
        for (std::size_t j = 0; j < g.size(); ++j) g[j] -= tilt[j];
    }
    void batch_gradient(std::span<std::uint32_t const> rows, std::span<double const> x, std::span<double> g) const {
        f.batch_gradient(rows, x, g);
        for (std::size_t j = 0; j < g.size(); ++j) g[j] -= tilt[j];
    }
};
std::vector<tilted> made_to_agree(real_problem const& real);

}  // namespace toys
