// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include "laconic/backend/host.hpp"
#include "laconic/core/occasion.hpp"
#include "laconic/message/plain.hpp"

namespace laconic {

/// What is remembered of what was said. Satisfied iff
///   feedback.start(d)                makes it ready for gradients of d numbers;
///   feedback.before(on, now, g)      turns the gradient g, in place, into what is worth saying; it may be called again
///                                    for the same round, and then does the same;
///   feedback.after(on, news, m)      is told that the message m about those news has reached the others;
///   feedback.estimate(on, now, mean) turns the mean of all ranks' messages, in place, into an estimate of the mean
///                                    gradient, once a round, on every rank that hears the messages.
/// An exchange that leaves out part of the messages' sum needs two more:
///   feedback.keeps_returned()        whether what is said in vain is only postponed by it;
///   feedback.keep(on, m)             is told, after after(), which terms this rank must say again, its own or others'.
/// With to_string(feedback) its numbers are among what the ranks agree on; with state(archive) (wire/state.hpp) what it
/// remembers is saved.
template <class F, class T = double, class B = host, class M = plain<T, B>>
concept Feedback = std::movable<F> &&
    requires(F& feedback, B& on, occasion const& now, std::span<T> g, std::span<T const> news, M const& m) {
    feedback.start(std::size_t{});
    feedback.before(on, now, g);
    feedback.after(on, news, m);
    feedback.estimate(on, now, g);
};

}  // namespace laconic
