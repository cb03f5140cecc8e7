// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "laconic/feedback/feedback.hpp"

namespace laconic {

/// The shift h, the residual e and the momentum u of one rank, and the mean shift of all. With the rate alpha, the
/// decay and the factor of the momentum:
///   rate > 0      difference compression: h <- h + rate m, and only g - h is sent (DIANA, EF21, GD-SEC);
///   decay > 0     error feedback: what a message leaves out is sent later, times decay for each round that it waits;
///                 1: EF-SGD, GD-SEC; below 1: forgetting; or, controlled, as much of it as is sent is taken off,
///                 e <- e + g - h - m where delta = g - h + decay e (EControl, Gao, Islamov, Stich, ICLR 2024);
///   momentum > 0  u <- momentum u + g takes the place of g, or with Nesterov's momentum, where u <- momentum (u + g),
///                 u + g does. Masked, u is then 0 wherever the message is not, of a transform where its numbers are
///                 (momentum correction and factor masking of Deep Gradient Compression, Lin, Han, Mao, Wang, Dally,
///                 ICLR 2018). With decay 1 and messages that leave nothing out it is momentum SGD, and masked SGD.
///                 With decay 0, u is a residual that loses all of a number that is sent, whatever was sent for it:
///                 its sign, for example (DisTrO). Or, common to all ranks, u is the estimate of the last round, and
///                 momentum u + (1 - momentum) g takes the place of g (1-bit Adam, Tang et al., ICML 2021).
/// With all 0 it has no state. Every vector starts at zero and has the gradient's dimension; beside u there is another,
/// for the next u.
///
/// Memory traffic: compensate() reads each of g, h and e once and writes delta once, in g's place; update() leaves it
/// there, as e, and touches the terms of m only. The cases send/... of bench/kernel measure it. Momentum takes a pass
/// more, Nesterov's two, and masking two more where m does not list its terms.
template <Scalar T = double, class B = host>
class memory {
  public:
    /// Throws argument_error for a decay outside [0, 1] or a momentum outside [0, 1). A common momentum is not masked.
    memory(double rate = 0, double decay = 0, double momentum = 0, bool masked = true,  // NOLINT: a number
           bool nesterov = false, bool controlled = false, bool common = false)
        : rate_(rate),
          decay_(decay),
          factor_(momentum),
          masked_(masked && !common),
          nesterov_(nesterov),
          controlled_(controlled),
          common_(common) {
        if (common && nesterov)
            throw argument_error("a momentum that is common to all ranks has no form of Nesterov's");
        if (!(decay >= 0 && decay <= 1)) throw argument_error({"a residual's decay is from 0 to 1, not ", decay});
        if (!(momentum >= 0 && momentum < 1))
            throw argument_error({"a momentum is at least 0 and below 1, not ", momentum});
    }

    void start(std::size_t dimension) {
        if (rate_ != 0) shift_.resize(dimension);
        if (keeps_residual()) residual_.resize(dimension);
        if (factor_ != 0) momentum_.resize(dimension), next_momentum_.resize(dimension);
    }

    /// g <- g - h + decay e: replaces the gradient by delta, and computes the next u.
    void compensate(B& on, round_context const& now, std::span<T> g) const { this->make_delta(on, now, T(1), g); }
    /// g <- scale g - h + decay e, and the next u; returns whether all of delta is finite.
    bool make_delta(B& on, round_context const&, T scale, std::span<T> g) const {
        if (scale == 1 && shift_.empty() && residual_.empty() && factor_ == 0)
            return first_non_finite(on, std::span<T const>(g)) == g.size();
        return with_delta(on, scale, std::span<T const>(g), 1, g,
                          [&](auto const& sum) { return kernels::compensate(on, sum); });
    }
    /// out <- scale g - h + decay residual_scale e, and the next u, of scale g: returns last(sum), which is to make the
    /// last sum and to return whether all of it is finite.
    bool with_delta(B& on, T scale, std::span<T const> g, T residual_scale, std::span<T> out, auto last) const {
        using sum = kernels::compensation<T>;
        std::span<T const> const u(momentum_), none;
        std::span<T> const next(next_momentum_);
        if (factor_ != 0) {
            T const m = static_cast<T>(factor_);
            T const fresh = nesterov_ ? m : common_ ? static_cast<T>(1 - factor_) : T(1);
            kernels::compensate(on, sum{fresh * scale, g, none, m, u, next});
            if (nesterov_) kernels::compensate(on, sum{scale, g, none, T(1), next, out});
            g = nesterov_ ? out : next, scale = 1;
        }
        return last(sum{scale, g, shift_, static_cast<T>(decay_) * residual_scale, residual_, out});
    }

    /// e <- delta - m, h <- h + rate m, u <- the next u, once m has reached the others.
    void update(B& on, std::span<T const> delta, auto const& m) {
        if (controlled_ && keeps_residual()) {
            multiply(on, static_cast<T>(1 - decay_), std::span<T>(residual_));
            add_scaled(on, T(1), delta, std::span<T>(residual_));
        } else if (keeps_residual()) {
            kernels::assign(on, delta, residual_);
        }
        take_off(on, m, masked_);
    }
    /// The same, but the array of delta becomes e, and the old array of e is left in its place: only the terms of m are
    /// touched. With `in_full`, as no number waits for its turn, u is not masked.
    void update(B& on, typename B::template array<T>&& delta, auto const& m, bool in_full = false) {
        if (keeps_residual()) residual_.swap(delta);
        if (controlled_ && keeps_residual())  // delta has the old e
            add_scaled(on, static_cast<T>(1 - decay_), std::span<T const>(delta), std::span<T>(residual_));
        take_off(on, m, masked_ && !in_full);
    }

    /// mean <- mean h + mean, mean h <- mean h + rate mean: replaces the mean of the messages by an estimate of the
    /// mean gradient. One pass.
    void reconstruct(B& on, round_context const&, std::span<T> mean) {
        if (rate_ == 0) return;
        mean_shift_.resize(mean.size());
        complete_and_remember(on, mean, static_cast<T>(rate_), std::span<T>(mean_shift_));
    }

    /// mean <- mean h + mean, without a change of state.
    void preview(B& on, round_context const&, std::span<T> mean) const {
        if (!mean_shift_.empty()) add_scaled(on, T(1), std::span<T const>(mean_shift_), mean);
    }

    /// Whether u is common to all ranks; then follow(on, estimate), once a round after reconstruct(), makes u the
    /// estimate.
    bool follows_estimate() const { return common_ && factor_ != 0; }
    void follow(B& on, std::span<T const> estimate) {
        if (follows_estimate()) copy(on, estimate, std::span<T>(momentum_));
    }

    /// Whether what a collective leaves out can be added to e: with a decay, and no rate. With a rate, h_i would
    /// include terms that no rank applied, and mean_shift() would not be the mean of the h_i.
    bool keeps_leftover() const { return rate_ == 0 && keeps_residual(); }
    /// e, for a collective to add to. What was cleared of u stays so, as the leftover may be another rank's.
    std::span<T> residual_for_leftover() {
        LACONIC_EXPECTS(keeps_leftover());
        return residual_;
    }

    double rate() const { return rate_; }
    double decay() const { return decay_; }
    bool keeps_residual() const { return decay_ != 0; }
    /// h_i; empty where the rate is 0.
    std::span<T const> shift() const { return shift_; }
    /// The mean of all h_i, which every rank keeps that receives all messages; empty before the first round.
    std::span<T const> mean_shift() const { return mean_shift_; }
    /// e_i, of which decay e_i is sent next; empty where the decay is 0.
    std::span<T const> residual() const { return residual_; }
    /// u_i; empty where the momentum is 0. And u, where it is common to all ranks.
    std::span<T const> momentum() const { return momentum_; }
    std::span<T const> common_momentum() const { return common_ ? momentum() : std::span<T const>(); }

    /// Replaces e by x.
    void set_residual(B& on, std::span<T const> x) { copy(on, x, std::span<T>(residual_)); }

    /// Merges the states of several ranks: adds `share` times h, mean h, e and u of another memory, whose vectors are
    /// as long; u only where both have one.
    void add(B& on, T share, memory const& other) {
        auto const one = [&](auto const& from, auto& to) {
            if (from.empty()) return;
            to.resize(from.size());
            add_scaled(on, share, std::span<T const>(from), std::span<T>(to));
        };
        one(other.shift_, shift_);
        one(other.shift_, mean_shift_);
        one(other.residual_, residual_);
        if (factor_ != 0) one(other.momentum_, momentum_);
    }
    /// Multiplies h, mean h, e and u by `share`.
    void scale(B& on, T share) {
        for (auto* x : {&shift_, &mean_shift_, &residual_, &momentum_}) multiply(on, share, std::span<T>(*x));
    }
    /// Sets mean h, after other ranks have joined or some have left.
    void set_mean_shift(B& on, std::span<T const> mean) {
        mean_shift_.resize(mean.size());
        copy(on, mean, std::span<T>(mean_shift_));
    }

    /// Reads the state of any other memory into this one.
    void any_state(auto& archive) {
        archive.of_any_length(shift_, mean_shift_, residual_, momentum_);
        if (!momentum_.empty()) archive(common_);
    }
    void state(auto& archive) {
        archive(shift_);
        archive.vectors(mean_shift_);
        archive(residual_, momentum_);
        if (auto same = common_; !momentum_.empty()) archive.between(common_, common_, same);
    }
    friend std::string to_string(memory const& m) {
        auto const given = [](char const* name, double x) { return x == 0 ? "" : detail::concat({name, x}); };
        return detail::concat({"memory(rate=", m.rate_, given(", decay=", m.decay_), given(", momentum=", m.factor_),
                               (m.nesterov_ ? ", nesterov" : ""), (m.masked_ || m.common_ ? "" : ", not masked"),
                               (m.common_ ? ", common" : ""), (m.controlled_ ? ", controlled)" : ")")});
    }

  private:
    template <class M>
    void take_off(B& on, M const& m, bool masked) {
        if (keeps_residual()) add_message(on, std::span<T>(residual_), T(-1), m);
        if (rate_ != 0) add_message(on, std::span<T>(shift_), static_cast<T>(rate_), m);
        if (factor_ == 0 || common_) return;
        momentum_.swap(next_momentum_);
        if (masked) messages::clear_sent(on, std::span<T>(momentum_), std::span<T>(next_momentum_), m);
    }

    double rate_, decay_, factor_;
    bool masked_, nesterov_, controlled_, common_;
    typename B::template array<T> shift_, mean_shift_, residual_, momentum_;
    mutable typename B::template array<T> next_momentum_;  // made by make_delta(), the momentum after update()
};

}  // namespace laconic
