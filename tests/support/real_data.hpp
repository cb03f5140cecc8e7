// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "laconic/objective/regression.hpp"
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

}  // namespace toys
