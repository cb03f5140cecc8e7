// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"
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
    auto const each = [&](std::size_t bytes, void* to, auto use) {
        for (int r = 0; r < comm.size(); ++r) {
            auto const sent = comm.from(r).bytes;
            if (sent.size() != bytes) throw comm_error(r, detail::concat({"rank ", r, " sent no report"}));
            std::memcpy(to, sent.data(), bytes);
            use();
        }
    };
    comm.all_gather({std::as_bytes(x)});
    each(x.size_bytes(), theirs.data(), [&] {
        for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += theirs[j] / n;
    });
    consensus_report all;
    double square = 0;
    for (std::size_t j = 0; j < mean.size(); ++j) {
        double const off = static_cast<double>(x[j] - mean[j]);
        square += off * off;
    }
    double mine[3] = {static_cast<double>(objective.value(x)),
                      static_cast<double>(objective.value(std::span<T const>(mean))), std::sqrt(square)};
    double other[3];
    comm.all_gather({std::as_bytes(std::span(mine))});
    each(sizeof other, other, [&] {
        all.value += other[0] / comm.size();
        all.value_at_mean += other[1] / comm.size();
        all.distance = std::max(all.distance, other[2]);
    });
    return all;
}

}  // namespace laconic
