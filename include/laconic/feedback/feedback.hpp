// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include "laconic/backend/host.hpp"
#include "laconic/core/round_context.hpp"
#include "laconic/message/plain.hpp"

namespace laconic {

/// What a rank remembers of what it has sent. Satisfied iff
///   feedback.start(d)                    prepares it for gradients of d numbers;
///   feedback.compensate(on, now, g)      replaces the gradient g by delta, which is worth sending; it may be called
///                                        again for the same round, and then does the same;
///   feedback.update(on, delta, m)        updates its state, once the message m about that delta has reached the
///                                        others; update(on, std::move(delta), m) may keep the array of delta, and
///                                        leaves another of the same length for it;
///   feedback.reconstruct(on, now, mean)  replaces the mean of all ranks' messages by an estimate of the mean gradient,
///                                        once a round, on every rank that receives the messages.
/// The concepts below name its optional members. With to_string(feedback) its parameters are among those that the ranks
/// compare before they start; with state(archive) (wire/state.hpp) its state is saved.
template <class F, class T = double, class B = host, class M = messages::full_vector<T, B>>
concept Feedback = std::movable<F> &&
    requires(F& feedback, B& on, round_context const& now, std::span<T> g, std::span<T const> delta, M const& m) {
    feedback.start(std::size_t{});
    feedback.compensate(on, now, g);
    feedback.update(on, delta, m);
    feedback.reconstruct(on, now, g);
};

}  // namespace laconic

namespace laconic::detail {

/// feedback.keeps_leftover() is whether a term that a collective leaves out of the messages' sum is only postponed:
/// then feedback.residual_for_leftover() is e, of d numbers, to which what this rank must send again, its own or
/// others', is added after update().
template <class F>
concept KeepsLeftover = requires(F const& feedback) {
    { feedback.keeps_leftover() } -> std::same_as<bool>;
};
/// feedback.preview(on, now, mean) is reconstruct() on a const feedback, without a change of state. A server needs it,
/// as its answer may be refused before any rank has changed its state.
template <class F, class T, class B>
concept Previews = requires(F const& feedback, B& on, round_context const& now, std::span<T> mean) {
    feedback.preview(on, now, mean);
};
/// feedback.make_delta(on, now, scale, g) is compensate() for scale x g in fewer passes; it returns whether the result
/// is finite.
template <class F, class T, class B>
concept CompensatesFinite = requires(F& feedback, B& on, round_context const& now, T scale, std::span<T> g) {
    { feedback.make_delta(on, now, scale, g) } -> std::same_as<bool>;
};
/// feedback.with_delta(on, scale, x, waited, out, last) is the same from x to out, with the residual times `waited`: it
/// returns last(sum), which makes the last sum, and returns whether it is finite.
template <class F, class T, class B>
concept ScalesResidual = requires(F const& feedback, B& on, T scale, std::span<T const> x, std::span<T> out,
                                  bool (*last)(kernels::compensation<T> const&)) {
    { feedback.with_delta(on, scale, x, scale, out, last) } -> std::same_as<bool>;
};
/// feedback.residual() is the residual e_i, d numbers or none.
template <class F>
concept HasResidual = requires(F const& feedback) {
    feedback.residual().size_bytes();
};
/// feedback.shift() is the shift h_i, d numbers or none; mean_shift() is the mean shift, which set_mean_shift(on, h)
/// sets; and rate() is alpha.
template <class F, class B>
concept HasShift = requires(F& feedback, F const& same, B& on) {
    { same.rate() } -> std::convertible_to<double>;
    same.shift().size_bytes();
    same.mean_shift().size_bytes();
    feedback.set_mean_shift(on, same.shift());
};
/// feedback.follow(on, estimate) is called once a round on every rank, with the estimate of the mean gradient that all
/// have, if feedback.follows_estimate().
template <class F, class T, class B>
concept FollowsEstimate = requires(F& feedback, F const& same, B& on, std::span<T const> estimate) {
    { same.follows_estimate() } -> std::same_as<bool>;
    feedback.follow(on, estimate);
};
template <class F, class B, Scalar T>
void show_estimate([[maybe_unused]] F& feedback, [[maybe_unused]] B& on, [[maybe_unused]] std::span<T const> estimate) {
    if constexpr (FollowsEstimate<F, T, B>) feedback.follow(on, estimate);
}
template <class T, class B, class F>
bool follows_estimate([[maybe_unused]] F const& feedback) {
    if constexpr (FollowsEstimate<F, T, B>) return feedback.follows_estimate();
    return false;
}
/// feedback.add(on, w, other) adds w times the state of another one, and feedback.scale(on, w) multiplies all of its
/// state: so the states of several ranks become one.
template <class F, class T, class B>
concept AddsUp = requires(F& feedback, F const& other, B& on, T w) {
    feedback.add(on, w, other);
    feedback.scale(on, w);
};

/// feedback.make_delta(), or the same by compensate() where a feedback has none.
template <class F, class B, Scalar T>
bool make_delta(F& feedback, B& on, round_context const& now, T scale, std::span<T> g) {
    if constexpr (CompensatesFinite<F, T, B>) {
        return feedback.make_delta(on, now, scale, g);
    } else {
        if (first_non_finite(on, std::span<T const>(g)) < g.size()) return false;
        if (scale != 1) multiply(on, scale, g);
        feedback.compensate(on, now, g);
        return first_non_finite(on, std::span<T const>(g)) == g.size();  // the difference may have overflowed
    }
}

/// feedback.with_delta(), or the same by make_delta() where a feedback has none, which then throws argument_error unless
/// `waited`, the factor of the residual, is 1.
template <class F, class B, Scalar T>
bool with_delta(F& feedback, B& on, round_context const& now, T scale, std::span<T const> x, T waited, std::span<T> out,
                auto last) {
    if constexpr (ScalesResidual<F, T, B>) {
        return feedback.with_delta(on, scale, x, waited, out, last);
    } else {
        if (waited != 1) throw argument_error("a step size that changes cannot be combined with this feedback");
        copy(on, x, out);
        return make_delta(feedback, on, now, scale, out) &&
               last(kernels::compensation<T>{T(1), out, {}, T(0), {}, out});
    }
}

/// feedback.preview(); throws argument_error where a feedback has none.
template <class F, class B, Scalar T>
void preview_estimate(F const& feedback, B& on, round_context const& now, std::span<T> mean) {
    if constexpr (Previews<F, T, B>)
        feedback.preview(on, now, mean);
    else
        throw argument_error(
            "the feedback has no preview(on, now, mean), which a server needs: take another transport than served");
}

/// Makes the server's answer m to d, the mean of the messages. d becomes the vector that m compresses; `kept` gets the
/// mean, for feedback.reconstruct(), as no state is updated here. Throws error where something is not finite, and
/// whatever the server's compressor throws.
template <class F, class Server, class B, Scalar T, class Array, class M>
void make_answer(F const& feedback, Server const& server, B& on, round_context const& now, std::span<T> d, Array& kept,
                 M& m) {
    auto const check = [&](char const* what) {
        if (auto const j = first_non_finite(on, std::span<T const>(d)); j < d.size())
            throw error({what, " is not finite at coordinate ", j});
    };
    check("the mean of the messages");
    kernels::assign(on, std::span<T const>(d), kept);
    preview_estimate(feedback, on, now, d);
    server.feedback.compensate(on, now, d);
    check("what the server has to send");
    server.compressor(on, std::span<T const>(d), now.answer, m);
}

}  // namespace laconic::detail
