// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "laconic/core/contract.hpp"

namespace laconic {

/// What a reducer has done since it was made, on this rank; after restore() it goes on counting.
struct reducer_statistics {
    std::uint64_t steps = 0;           ///< that succeeded
    std::uint64_t bytes_sent = 0;      ///< of messages; what goes to all ranks counts once
    std::uint64_t bytes_received = 0;  ///< of other ranks' messages
    std::uint64_t bytes_in_full = 0;   ///< what bytes_sent were if every successful step had been sent in full
    std::uint64_t bytes_watching = 0;  ///< sent for probes and comparisons, and not in bytes_sent
    std::uint64_t bytes_inside = 0;    ///< sent in full within a node, where there is a hierarchy
    double seconds_compressing = 0;    ///< making messages
    double seconds_waiting = 0;        ///< for other ranks' messages, and adding them up
    std::size_t bytes_of_state = 0;    ///< residuals and shifts

    /// Of the last step that was probed: the estimate beside all ranks' mean gradient, without the loss scale.
    struct probe {
        std::uint64_t step = 0;     ///< which, counted from 1; 0: none was
        double cosine = 0;          ///< of the angle between the two; 0 where one of them is 0
        double relative_error = 0;  ///< |estimate - mean| / |mean|
        double gradient_norm = 0;   ///< |mean|
        double residual_norm = 0;   ///< of this rank's residual after the step, 0 where there is none
    } last_probe{};
};

namespace detail {

/// Adds the seconds of its life to a sum.
class timed {
  public:
    explicit timed(double& seconds) : seconds_(&seconds) {}
    timed(timed const&) = delete;
    timed& operator=(timed const&) = delete;
    ~timed() { *seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - from_).count(); }

  private:
    double* seconds_;
    std::chrono::steady_clock::time_point from_ = std::chrono::steady_clock::now();
};

}  // namespace detail

}  // namespace laconic
