// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "laconic/any/objective.hpp"
#include "laconic/objective/dataset.hpp"
#include "laconic/objective/objective.hpp"
#include "laconic/optim/step.hpp"

namespace race {

/// What --objective knows.
inline std::vector<std::string> objectives() { return {"logistic", "ridge", "lasso", "softmax", "nonconvex-logistic"}; }

/// f = mean of the workers' f_i, which is the mean over all samples, plus R where there is one; its constants, and how
/// far from the end an iterate is.
struct contest {
    std::vector<laconic::any_objective<>> workers;
    laconic::elastic_net prox{};  // R
    laconic::problem constants;
    bool convex = true;     // if not, the square of the gradient's norm is measured instead of f - f*
    double f_star = 0;      // the least f + R, as the solver gives it
    double least_mean = 0;  // mean f_i(x*) + R(x*), summed as the race sums it
    std::size_t samples = 0;

    /// The constants as a worker knows them, with the smoothness of its own f_i.
    laconic::problem constants_of(int worker) const;

    char const* measure() const {
        return !convex ? "|grad f|^2" : prox == laconic::elastic_net{} ? "f - f*" : "F - F*";
    }
};

/// Cuts the rows among the workers, in contiguous parts that differ by one row at most, and finds the optimum. Throws
/// laconic::error where the data do not suit the objective.
contest prepare(laconic::dataset<double> data, std::string const& objective, double lambda, int workers);

}  // namespace race
