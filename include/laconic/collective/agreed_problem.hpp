// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "laconic/comm/communicator.hpp"
#include "laconic/objective/objective.hpp"
#include "laconic/objective/weighted.hpp"

namespace laconic {

/// The constants of f = mean f_i from those that each rank's f_i knows of itself: L is bounded by the mean of the L_i.
/// The same on all ranks except for own_smoothness, which is this rank's L_i. Where a rank's objective does not know
/// its own, those of f are unknown.
template <Communicator C, class F>
[[gnu::cold, gnu::noinline]] problem agree_on_problem(C& comm, F const& objective) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    struct constants {
        double smoothness = none, strong_convexity = none, samples = 0, sample_smoothness = 0;
    } mine;
    if constexpr (detail::has_constants<F>())
        mine.smoothness = objective.smoothness(), mine.strong_convexity = objective.strong_convexity();
    if constexpr (detail::HasSamples<F>) mine.samples = static_cast<double>(objective.samples());
    if constexpr (detail::HasSampleSmoothness<F>) mine.sample_smoothness = objective.sample_smoothness();
    problem p;
    p.dimension = static_cast<std::size_t>(objective.dimension());
    p.workers = comm.size();
    p.own_smoothness = mine.smoothness;
    double const share = 1.0 / comm.size();
    detail::from_all(comm, mine, "the constants of its objective", [&](int r, constants const& theirs) {
        double const l = theirs.smoothness, mu = theirs.strong_convexity;
        p.smoothness += share * l;
        p.strong_convexity += share * mu;
        p.least_strong_convexity = r == 0 ? mu : std::min(p.least_strong_convexity, mu);
        p.largest_smoothness = std::max(p.largest_smoothness, l);
        p.mean_square_smoothness += share * l * l;
        p.samples = std::max(p.samples, static_cast<std::size_t>(theirs.samples));
        p.largest_sample_smoothness = std::max(p.largest_sample_smoothness, theirs.sample_smoothness);
    });
    p.mean_square_smoothness = std::sqrt(p.mean_square_smoothness);
    if (std::isnan(p.smoothness))
        for (double* const unknown : {&p.smoothness, &p.strong_convexity, &p.least_strong_convexity,
                                      &p.largest_smoothness, &p.mean_square_smoothness, &p.own_smoothness})
            *unknown = 0;
    return p;
}

/// This rank's objective, of n_i samples, times n_i ranks / (sum of all n_i): the mean over the ranks, which all
/// methods minimise, is then the mean over all samples, and constants follow. Where all ranks have as many, the weight
/// is 1 and all bits are the same. objective must outlive what is returned. A collective call of 8 bytes. Throws
/// argument_error on all ranks where a rank has no samples.
template <Communicator C, detail::HasSamples F>
weighted<F> by_samples(C& comm, F const& objective) {
    std::uint64_t const mine = objective.samples();
    double sum = 0;
    detail::from_all(comm, mine, "its number of samples", [&](int r, std::uint64_t theirs) {
        if (theirs == 0) throw argument_error({"rank ", r, " has no samples, and so no weight"});
        sum += static_cast<double>(theirs);
    });
    return {objective, static_cast<double>(mine) * comm.size() / sum};
}

}  // namespace laconic
