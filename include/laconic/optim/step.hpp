// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <span>

#include "laconic/backend/host.hpp"

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

}  // namespace laconic
