// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "laconic/core/contract.hpp"

namespace laconic {

/// What a reducer has done since it was made, on this rank; restore() does not reset it.
struct reducer_statistics {
    std::uint64_t steps = 0;           ///< steps that succeeded
    std::uint64_t bytes_sent = 0;      ///< of messages; a message to all ranks counts once
    std::uint64_t bytes_received = 0;  ///< of other ranks' messages
    std::uint64_t bytes_in_full = 0;   ///< of the caller's numbers in all successful steps
    std::uint64_t bytes_watching = 0;  ///< sent for probes and comparisons, not part of bytes_sent
    std::uint64_t bytes_inside = 0;    ///< sent in full within a node, in a hierarchy
    double seconds_compressing = 0;    ///< time to make messages
    double seconds_waiting = 0;        ///< time to wait for other ranks' messages, and to add them up
    std::size_t bytes_of_state = 0;    ///< of residuals and shifts

    /// The last step that was probed: the estimate compared with all ranks' mean gradient, without the loss scale.
    struct probe {
        std::uint64_t step = 0;     ///< its number, counted from 1; 0: there was none
        double cosine = 0;          ///< the cosine of the angle between the two; 0 where one of them is 0
        double relative_error = 0;  ///< |estimate - mean| / |mean|
        double gradient_norm = 0;   ///< |mean|
        double residual_norm = 0;   ///< |residual| of this rank after the step, 0 where there is none
    } last_probe{};
};

namespace detail {

/// Adds the seconds of its lifetime to a sum.
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
