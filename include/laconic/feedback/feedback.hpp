// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include "laconic/backend/host.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/occasion.hpp"
#include "laconic/message/full_vector.hpp"

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
/// Beside a server, whose answer may be refused before anybody remembers it, it needs
///   feedback.preview(on, now, mean)          estimate() that remembers nothing; on a const feedback, too.
/// Two more save passes over the vectors:
///   feedback.news(on, now, scale, g)         before() for scale x g, and true, where all of it is finite; else false;
///   feedback.after(on, std::move(news), m)   may keep the news' array, and leaves one of as many numbers for it.
/// With to_string(feedback) its numbers are among what the ranks agree on; with state(archive) (wire/state.hpp) what it
/// remembers is saved.
template <class F, class T = double, class B = host, class M = full_vector<T, B>>
concept Feedback = std::movable<F> &&
    requires(F& feedback, B& on, occasion const& now, std::span<T> g, std::span<T const> news, M const& m) {
    feedback.start(std::size_t{});
    feedback.before(on, now, g);
    feedback.after(on, news, m);
    feedback.estimate(on, now, g);
};

namespace detail {

/// feedback.news(), or what it stands for.
template <class F, class B, Scalar T>
bool make_news(F& feedback, B& on, occasion const& now, T scale, std::span<T> g) {
    if constexpr (requires { feedback.news(on, now, scale, g); }) {
        return feedback.news(on, now, scale, g);
    } else {
        if (first_non_finite(on, std::span<T const>(g)) < g.size()) return false;
        if (scale != 1) multiply(on, scale, g);
        feedback.before(on, now, g);
        return first_non_finite(on, std::span<T const>(g)) == g.size();  // it may have overflowed
    }
}

/// feedback.preview(); throws argument_error where there is none.
template <class F, class B, Scalar T>
void preview_estimate(F const& feedback, B& on, occasion const& now, std::span<T> mean) {
    if constexpr (requires { feedback.preview(on, now, mean); })
        feedback.preview(on, now, mean);
    else
        throw argument_error(
            "the feedback has no preview(on, now, mean), which a server needs: take another transport than served");
}

}  // namespace detail
}  // namespace laconic
