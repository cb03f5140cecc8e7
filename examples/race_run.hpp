// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "laconic/method/parse.hpp"
#include "laconic/objective/logistic.hpp"
#include "laconic/objective/problem.hpp"
#include "laconic/objective/ridge.hpp"

namespace race {

/// One line of a run: before `round`, each worker had sent `bits_up` bits (the mean over workers).
struct mark {
    std::uint64_t round;
    double bits_up, suboptimality;
};

/// How one method did.
struct result {
    std::string method;
    double step = 0;
    std::uint64_t rounds = 0;
    double bits_up = 0, bits_down = 0;  // per worker: sent, and received from others
    double suboptimality = 0, gradient_norm = 0;
    bool diverged = false;
    std::optional<mark> reached;  // the first mark at or below the target
    double seconds = 0;
    std::vector<mark> trace;
};

struct settings {
    std::uint64_t rounds = 0, seed = 0;
    double target = 0;
    int at_once = 0;
};

/// f = mean of the workers' f_i, its constants, and where it is least.
template <class F>
struct contest {
    std::vector<F> workers;
    laconic::problem constants;
    double f_star = 0;      // as the solver gives it
    double least_mean = 0;  // mean f_i(x*), summed as the race sums it
};

/// Called now and then while a method runs.
using progress = std::function<void(mark const&)>;

template <class F>
result run(laconic::any_method<double> const& method, contest<F> const& on, settings const& how, progress const& show);

extern template result run(laconic::any_method<double> const&, contest<laconic::logistic<>> const&, settings const&,
                           progress const&);
extern template result run(laconic::any_method<double> const&, contest<laconic::ridge<>> const&, settings const&,
                           progress const&);

}  // namespace race
