// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "laconic/core/text.hpp"
#include "laconic/optim/step.hpp"

namespace laconic {

/// x <- x - d / (a + c t) in the t-th step, counted from 0; a > 0, c >= 0. c = 0 gives a constant step size.
class decreasing_step {
  public:
    explicit decreasing_step(double a = 1, double c = 0) : a_(a), c_(c) {}

    template <class B, Scalar T>
    void operator()(B& on, std::span<T> x, std::span<T> d) {
        add_scaled(on, static_cast<T>(-rate()), std::span<T const>(d), x);
        ++taken_;
    }

    /// The size of the next step.
    double rate() const { return 1 / (a_ + c_ * static_cast<double>(taken_)); }

    template <class Archive>
    void state(Archive& archive) {
        archive(taken_);
    }
    friend std::string to_string(decreasing_step const& s) {
        return detail::concat({"decreasing_step(", s.a_, ", ", s.c_, ")"});
    }

  private:
    double a_, c_;
    std::uint64_t taken_ = 0;
};

}  // namespace laconic
