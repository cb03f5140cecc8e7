// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "toy.hpp"

namespace convergence {

/// Means over runs, round by round, and their standard errors, which are all 0 for a single run.
struct measured {
    vec mean, error;
};

/// Of a function that run(seed) gives round by round, over the seeds 1, .., runs.
measured averaged(std::size_t runs, std::function<vec(std::uint64_t)> const& run);

/// One method on one toy beside what its theorem says.
struct line {
    std::string method, theorem, problem;
    measured run;  ///< the function that the theorem bounds
    vec bound;     ///< of the theorem, or the exact expectation
    bool is_exact = false;
    std::size_t runs = 1;  ///< 1: nothing is random
};

/// The bound of a theorem V+ <= (1 - rate) V + added from V = first on.
vec geometric(double first, double rate, double added, std::size_t rounds);
/// What is bounded falls, per round, `spoil` times as much as in the bound: a constant that is too good.
vec spoiled(vec const& bound, double spoil);

struct verdict {
    bool holds = true;
    std::size_t broken_at = 0;  ///< the first round, where it does not hold
    double worst = 0;           ///< the largest run / bound, from round 1 on
    double tightness = 0;       ///< ln(the run's contraction) / ln(the bound's)
};
/// Whether the run keeps to its bound in every round: where runs are random, the mean less 5 standard errors does, and
/// for an exact expectation the mean lies within 5 of them. Rounding may move the root by 1e-9 of itself and 1e-13 of
/// its start.
verdict judge(line const& l);

struct options {
    std::size_t runs = 200;
};
struct family {
    std::string name, about;
    std::vector<line> (*lines)(options const&);
    bool is_by_name_only = false;  ///< a counterexample, which breaks
};
std::vector<family> const& families();

std::vector<line> dcgd_lines(options const&);
std::vector<line> diana_lines(options const&);
std::vector<line> shift_lines(options const&);
std::vector<line> ef_sgd_lines(options const&);
std::vector<line> ef21_lines(options const&);
std::vector<line> cat_lines(options const&);
std::vector<line> vr_diana_lines(options const&);
std::vector<line> block_lines(options const&);
std::vector<line> block_step_lines(options const&);
std::vector<line> gd_sec_lines(options const&);
std::vector<line> lag_lines(options const&);
std::vector<line> collective_lines(options const&);
std::vector<line> admm_lines(options const&);
std::vector<line> gossip_lines(options const&);
std::vector<line> vertical_lines(options const&);
std::vector<line> ds_lsr1_lines(options const&);
std::vector<line> fednl_lines(options const&);
std::vector<line> ensemble_lines(options const&);
std::vector<line> lossy_lines(options const&);

}  // namespace convergence
