// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>

#include "laconic/backend/host.hpp"
#include "laconic/core/text.hpp"

namespace laconic {

/// A step of the optimizer. Satisfied iff S is movable and step(on, x, d) moves the iterate x, in place, along the
/// estimate d of the gradient (which it may overwrite), both of one length. With to_string(step) its parameters are
/// among those that the ranks compare before they start; with state(archive) (wire/state.hpp) its state is saved.
template <class S, class T = double, class B = host>
concept Step = std::movable<S> && requires(S& step, B& on, std::span<T> x, std::span<T> d) {
    step(on, x, d);
};

namespace detail {

/// A step with a constant step size has the member `rate`, or the function rate() that returns it.
template <class S>
concept HasRate = requires(S const& step) {
    { step.rate } -> std::convertible_to<double>;
};
template <class S>
concept HasRateFunction = requires(S const& step) {
    { step.rate() } -> std::convertible_to<double>;
};

}  // namespace detail

/// The gradient step x <- x - rate d; rate is the step size.
struct gradient_step {
    double rate = 1;

    template <class B, Scalar T>
    void operator()(B& on, std::span<T> x, std::span<T> d) const {
        add_scaled(on, static_cast<T>(-rate), std::span<T const>(d), x);
    }
    friend std::string to_string(gradient_step s) { return detail::concat({"gradient_step(", s.rate, ")"}); }
};

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

    void state(auto& archive) { archive(taken_); }
    friend std::string to_string(decreasing_step const& s) {
        return detail::concat({"decreasing_step(", s.a_, ", ", s.c_, ")"});
    }

  private:
    double a_, c_;
    std::uint64_t taken_ = 0;
};

}  // namespace laconic
