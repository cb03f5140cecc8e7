// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "laconic/estimate/estimator.hpp"

namespace laconic {

/// A running mean of this rank's gradients, v <- beta v + (1 - beta) g from v = 0 on, of which Signum sends the sign
/// (Bernstein et al., ICML 2018). g is the estimate of another estimator. Throws argument_error for beta outside [0,
/// 1).
template <class E = mini_batch, Scalar T = double, class B = host>
class local_momentum {
  public:
    explicit local_momentum(double beta = 0.9, E of = {}) : beta_(beta), of_(std::move(of)) {
        if (!(beta >= 0 && beta < 1)) throw argument_error({"local_momentum: beta = ", beta, " is outside [0, 1)"});
    }

    template <class F>
    requires Estimator<E, F, T, B> std::optional<double>
    operator()(B& on, F const& f, round_context const& now, std::span<T const> x, std::span<T> g) {
        auto const value = of_(on, f, now, x, g);
        multiply(on, static_cast<T>(1 - beta_), g);
        if (!mean_.empty()) add_scaled(on, static_cast<T>(beta_), std::span<T const>(mean_), g);
        kernels::assign(on, std::span<T const>(g), next_);
        return value;
    }
    void update(B& on, std::span<T const> x) {
        kernels::assign(on, std::span<T const>(next_), mean_);
        of_.update(on, x);
    }

    /// v; empty before the first round.
    std::span<T const> mean() const { return mean_; }

    void state(auto& archive) {
        archive.vectors(mean_);
        archive(of_);
    }
    friend std::string to_string(local_momentum const& e) {
        return detail::concat({"local_momentum(", e.beta_, ") of ", to_string(e.of_)});
    }

  private:
    double beta_;
    E of_;
    typename B::template array<T> mean_, next_;
};

}  // namespace laconic
