// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <span>
#include <string>

#include "laconic/backend/array.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"
#include "laconic/optim/step.hpp"

namespace laconic {

/// Nesterov's acceleration under strong growth (Vaswani, Bach, Schmidt, AISTATS 2019): f is mu-strongly convex and
/// E|d|^2 <= growth |grad f(x)|^2, growth >= 1. With q = sqrt(mu rate / growth), from v = y = x on,
///     y <- x - rate d,    v <- (1 - q) v + q x - (q / mu) d,    x <- (q v + y) / (1 + q),
/// where x is the point at which gradients are taken. For rate <= 1 / (growth L),
///     f(y) - f* + (mu / 2) |v - x*|^2 falls in expectation by the factor 1 - q a step.
/// growth = 1 is Nesterov's own method, for exact gradients.
template <Scalar T = double, class B = host>
class accelerated_step {
  public:
    /// Throws argument_error unless rate > 0, mu > 0, growth >= 1 and q < 1.
    accelerated_step(double rate, double mu, double growth = 1) : rate_(rate), mu_(mu), growth_(growth) {
        if (!(rate > 0 && mu > 0 && growth >= 1 && q() < 1))
            throw argument_error(detail::concat(
                {"accelerated_step: rate = ", rate, ", mu = ", mu, ", growth = ", growth, " do not go together"}));
    }

    void operator()(B& on, std::span<T> x, std::span<T> d) {
        if (v_.empty()) kernels::assign(on, std::span<T const>(x), v_);
        std::span<T> const v(v_);
        std::span<T const> const estimate(d);
        multiply(on, static_cast<T>(1 - q()), v);
        add_scaled(on, static_cast<T>(q()), std::span<T const>(x), v);
        add_scaled(on, static_cast<T>(-q() / mu_), estimate, v);
        add_scaled(on, static_cast<T>(-rate_), estimate, x);  // x holds y now
        kernels::assign(on, std::span<T const>(x), y_);
        add_scaled(on, static_cast<T>(q()), std::span<T const>(v_), x);
        multiply(on, static_cast<T>(1 / (1 + q())), x);
    }

    double rate() const { return rate_; }
    double q() const { return std::sqrt(mu_ * rate_ / growth_); }
    /// The iterates y, to which the theorem applies, and v; empty before the first step.
    std::span<T const> y() const { return y_; }
    std::span<T const> v() const { return v_; }

    template <class Archive>
    void state(Archive& archive) {
        archive.vectors(v_, y_);
    }
    friend std::string to_string(accelerated_step const& s) {
        return detail::concat({"accelerated_step(", s.rate_, ", mu=", s.mu_, ", growth=", s.growth_, ")"});
    }

  private:
    double rate_, mu_, growth_;
    typename B::template array<T> v_, y_;
};

}  // namespace laconic
