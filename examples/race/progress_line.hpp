// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "run.hpp"

namespace race {

/// How far a method is, on one line of standard error: the round, f - f*, and about how long it takes yet. It is
/// rewritten at most five times a second, and erased at the end. Nothing where standard error is no terminal.
class progress_line {
  public:
    /// `measure` names what falls to the target: f - f*, say.
    progress_line(bool on, std::string method, std::string measure, settings const& how);
    ~progress_line();
    progress_line(progress_line const&) = delete;
    progress_line& operator=(progress_line const&) = delete;

    void operator()(mark const& now);

  private:
    using clock = std::chrono::steady_clock;

    bool on_, shown_ = false;
    std::string method_, measure_;
    settings how_;
    double first_ = 1;
    clock::time_point begin_ = clock::now(), last_{};

    double share_done(mark const& now, double seconds) const;
};

}  // namespace race
