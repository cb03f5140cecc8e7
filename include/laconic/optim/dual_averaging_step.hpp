// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>

#include "laconic/backend/array.hpp"
#include "laconic/core/text.hpp"
#include "laconic/optim/step.hpp"

namespace laconic {

/// Dual averaging (Nesterov, Math. Programming 2009): z <- z + d, x <- x^0 - (rate / sqrt(t)) z after t gradients. It
/// also keeps the mean of the t points at which they were taken, to which the theorems apply.
template <Scalar T = double, class B = host>
class dual_averaging_step {
  public:
    explicit dual_averaging_step(double rate = 1) : rate_(rate) {}

    void operator()(B& on, std::span<T> x, std::span<T> d) {
        if (center_.empty()) {
            kernels::assign(on, std::span<T const>(x), center_);
            sum_.assign(x.size(), T(0));
            average_.assign(x.size(), T(0));
        }
        double const t = static_cast<double>(++count_);
        multiply(on, static_cast<T>(1 - 1 / t), std::span<T>(average_));
        add_scaled(on, static_cast<T>(1 / t), std::span<T const>(x), std::span<T>(average_));
        add_scaled(on, T(1), std::span<T const>(d), std::span<T>(sum_));
        copy(on, std::span<T const>(center_), x);
        add_scaled(on, static_cast<T>(-rate_ / std::sqrt(t)), std::span<T const>(sum_), x);
    }

    /// The rate; the step after t gradients is rate / sqrt(t) times their sum.
    double rate() const { return rate_; }
    /// The mean of x^0 .. x^(t-1); empty before the first step.
    std::span<T const> average() const { return average_; }
    /// z, the sum of the gradients.
    std::span<T const> sum() const { return sum_; }

    template <class Archive>
    void state(Archive& archive) {
        archive(count_);
        archive.vectors(center_, sum_, average_);
    }
    friend std::string to_string(dual_averaging_step const& s) {
        return detail::concat({"dual_averaging_step(", s.rate_, ")"});
    }

  private:
    double rate_;
    std::uint64_t count_ = 0;
    typename B::template array<T> center_, sum_, average_;
};

}  // namespace laconic
