// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/core/view.hpp"

namespace laconic {

/// How far the ranks of a decentralized run are. f_n is rank n's objective, x_n its model.
struct consensus_report {
    double value = 0;          ///< mean_n f_n(x_n), which may be below the minimum of the mean
    double value_at_mean = 0;  ///< mean_n f_n(mean x_n)
    double distance = 0;       ///< max_n |x_n - mean x_n|, Euclidean
};

/// A collective call, of two all-gathers; use a communicator that is not counted. Throws comm_error where a rank sends
/// something else.
template <class F, Communicator C, Scalar T>
consensus_report report_consensus(F const& objective, std::span<T const> x, C& comm) {
    auto const n = static_cast<T>(comm.size());
    std::vector<T> mean(x.size()), theirs(x.size());
    comm.all_gather({std::as_bytes(x)});
    for (int r = 0; r < comm.size(); ++r) {
        std::memcpy(theirs.data(), detail::bytes_from(comm, r, x.size_bytes(), "its model").data(), x.size_bytes());
        for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += theirs[j] / n;
    }
    consensus_report all;
    double square = 0;
    for (std::size_t j = 0; j < mean.size(); ++j) {
        double const off = static_cast<double>(x[j] - mean[j]);
        square += off * off;
    }
    consensus_report const mine{static_cast<double>(objective.value(x)),
                                static_cast<double>(objective.value(std::span<T const>(mean))), std::sqrt(square)};
    detail::from_all(comm, mine, "its report", [&](int, consensus_report const& of) {
        all.value += of.value / comm.size();
        all.value_at_mean += of.value_at_mean / comm.size();
        all.distance = std::max(all.distance, of.distance);
    });
    return all;
}

}  // namespace laconic
