// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "laconic/any/recursion.hpp"
#include "laconic/objective/perceptron.hpp"

namespace deep {

using method = laconic::any_recursion<float>;
using network = laconic::perceptron<float>;

/// What all methods share: workers, rows in a mini-batch, and how many steps are taken.
struct plan {
    int workers;
    std::size_t batch;
    std::uint64_t rounds, rounds_per_epoch;
};

struct named_method {
    std::string name;
    double rate;  // the length of the first step
    method recursion;
    std::uint64_t local = 1;  // steps of each worker in a round
};

/// Each method with the step that is given, or with its own: of 0.02, 0.05, 0.1 and, where the last was the best, 0.2
/// (and of Dion2 0.4), for gTop-k and EF21-SGDM, which have no momentum of 0.9, of 0.2, 0.5 and 1, the one that was
/// most accurate with --validate --seeds 1 (docs/results/deep.md has what they reached). Those with local steps,
/// PowerSGD, ARC-Top-K and MXFP4 take dense's step. DeMo's is the best of four runs of three epochs, and DisTrO has the
/// same; 1-bit Adam's is one that did well in five epochs.
std::vector<named_method> compositions(plan const& p, network const& f, std::optional<double> given);

}  // namespace deep
