// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "laconic/estimate/estimator.hpp"

namespace laconic {

/// Several local steps of each rank in a round (ProxSkip, as Scaffnew; Mishchenko, Malinovsky, Stich, Richtarik, ICML
/// 2022): from y = x on, y <- y - step (grad f_i(y) - h_i), with one more step with probability 1 - p each time, the
/// same number on all ranks. The estimate is (x - y) / step, so that a gradient_step of the same step size moves x to
/// the mean of the y_i; then h_i <- h_i + (p / step)(x - y_i), which converges to grad f_i(x*); the h_i sum to 0. With
/// a batch each step draws its own rows.
template <Scalar T = double, class B = host>
class local_steps {
  public:
    local_steps(double p, double step, std::size_t batch = 0) : p_(p), step_(step), gradient_(batch) {
        if (!(p >= 0x1p-32 && p <= 1))
            throw argument_error({"local_steps: the probability ", p, " is outside [2^-32, 1]"});
        if (!(step > 0)) throw argument_error({"local_steps: the step ", step, " is not above 0"});
    }

    /// The number of steps in a round: n with probability p (1 - p)^(n - 1).
    std::uint64_t steps(round_context const& now) const {
        key const coins = now.shared.child(2);
        std::uint64_t n = 1;
        while (!(coins.uniform(n) < p_)) ++n;
        return n;
    }

    std::optional<double> operator()(B& on, auto const& f, round_context const& now, std::span<T const> x,
                                     std::span<T> g) {
        kernels::assign(on, x, local_);
        std::span<T> const y(local_);
        std::optional<double> value;
        round_context at = now;
        for (std::uint64_t l = 0, n = steps(now); l < n; ++l) {
            at.gradient = now.gradient.child(l);
            auto const here = gradient_(on, f, at, std::span<T const>(y), g);
            if (l == 0) value = here;
            add_scaled(on, static_cast<T>(-step_), std::span<T const>(g), y);
            if (!shift_.empty()) add_scaled(on, static_cast<T>(step_), std::span<T const>(shift_), y);
        }
        copy(on, x, g);
        add_scaled(on, T(-1), std::span<T const>(y), g);
        multiply(on, static_cast<T>(1 / step_), g);
        return value;
    }
    void update(B& on, std::span<T const> x) {
        shift_.resize(x.size());
        add_scaled(on, T(-1), x, std::span<T>(local_));
        add_scaled(on, static_cast<T>(-p_ / step_), std::span<T const>(local_), std::span<T>(shift_));
    }

    /// h_i; empty before the first round.
    std::span<T const> shift() const { return shift_; }

    void state(auto& archive) { archive.vectors(shift_); }
    friend std::string to_string(local_steps const& e) {
        return detail::concat({"local_steps(p=", e.p_, ", step=", e.step_, "), ", to_string(e.gradient_)});
    }

  private:
    double p_, step_;
    mini_batch gradient_;
    typename B::template array<T> shift_, local_;
};

}  // namespace laconic
