// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"
#include "laconic/optim/step.hpp"

namespace laconic {

/// Heavy ball: v <- beta v + d, x <- x - rate v, with v = 0 at the start and beta in [0, 1).
template <Scalar T = double, class B = host>
class momentum {
  public:
    /// Throws argument_error unless beta is in [0, 1).
    momentum(double rate, double beta) : rate_(static_cast<T>(rate)), beta_(static_cast<T>(beta)) {
        if (!(beta >= 0 && beta < 1))
            throw argument_error(detail::concat({"momentum: beta = ", beta, " is outside [0, 1)"}));
    }

    void operator()(B& on, std::span<T> x, std::span<T> d) {
        velocity_.resize(x.size());
        std::span<T> const v(velocity_);
        multiply(on, beta_, v);
        add_scaled(on, T(1), std::span<T const>(d), v);
        add_scaled(on, -rate_, std::span<T const>(v), x);
    }

    double rate() const { return double{rate_}; }
    /// The step size in the limit along a constant d: rate / (1 - beta).
    double limit_rate() const { return double{rate_} / (1 - double{beta_}); }
    std::span<T const> velocity() const { return velocity_; }
    template <class Archive>
    void state(Archive& archive) {
        archive.vectors(velocity_);
    }
    friend std::string to_string(momentum const& s) {
        return detail::concat({"momentum(", double{s.rate_}, ", ", double{s.beta_}, ")"});
    }

  private:
    T rate_, beta_;
    typename B::template array<T> velocity_;
};

}  // namespace laconic
