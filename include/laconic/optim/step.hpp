// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <span>

#include "laconic/backend/host.hpp"

namespace laconic {

/// What is done with the estimate of a gradient. Satisfied iff S is movable and step(on, x, d) moves the iterate x, in
/// place, along the estimate d (which it may overwrite), both of one length. With to_string(step) its numbers are among
/// what the ranks agree on before they start; with state(archive) (wire/state.hpp) what it remembers is saved.
template <class S, class T = double, class B = host>
concept Step = std::movable<S> && requires(S& step, B& on, std::span<T> x, std::span<T> d) {
    step(on, x, d);
};

/// A step that is rate d long has that number, or a function that returns it.
template <class S>
concept HasRate = requires(S const& step) {
    { step.rate } -> std::convertible_to<double>;
};
template <class S>
concept TellsRate = requires(S const& step) {
    { step.rate() } -> std::convertible_to<double>;
};

}  // namespace laconic
