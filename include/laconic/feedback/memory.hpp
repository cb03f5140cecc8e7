// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "laconic/feedback/feedback.hpp"

namespace laconic {

/// The shift h and the residual e of one rank, and the mean shift of all. With the rate alpha and the decay:
///   rate > 0     difference compression: h <- h + rate m, and only g - h is sent (DIANA, EF21, GD-SEC);
///   decay > 0    error feedback: what a message leaves out is sent later, times decay for each round that it waits (1:
///                EF-SGD, GD-SEC; below 1: forgetting).
/// With both 0 it has no state. Every vector starts at zero and has the gradient's dimension.
///
/// Memory traffic: compensate() reads each of g, h and e once and writes delta once, in g's place; update() leaves it
/// there, as e, and touches the terms of m only. The cases send/... of bench/kernel measure it.
template <Scalar T = double, class B = host>
class memory {
  public:
    /// Throws argument_error for a decay outside [0, 1].
    memory(double rate = 0, double decay = 0) : rate_(rate), decay_(decay) {  // NOLINT: a number
        if (!(decay >= 0 && decay <= 1)) throw argument_error({"a residual's decay is from 0 to 1, not ", decay});
    }

    void start(std::size_t dimension) {
        if (rate_ != 0) shift_.resize(dimension);
        if (keeps_residual()) residual_.resize(dimension);
    }

    /// g <- g - h + decay e: replaces the gradient by delta. One pass.
    void compensate(B& on, round_context const& now, std::span<T> g) const { this->make_delta(on, now, T(1), g); }
    /// g <- scale g - h + decay e; returns whether all of it is finite. One pass.
    bool make_delta(B& on, round_context const&, T scale, std::span<T> g) const {
        if (scale == 1 && shift_.empty() && residual_.empty())
            return first_non_finite(on, std::span<T const>(g)) == g.size();
        return make_delta(on, scale, std::span<T const>(g), 1, g);
    }
    /// out <- scale g - h + decay residual_scale e; returns whether all of it is finite. One pass.
    bool make_delta(B& on, T scale, std::span<T const> g, T residual_scale, std::span<T> out) const {
        using kernels::compensate;
        return compensate(on, scale, g, std::span<T const>(shift_), static_cast<T>(decay_) * residual_scale,
                          std::span<T const>(residual_), out);
    }

    /// e <- delta - m, h <- h + rate m, once m has reached the others.
    void update(B& on, std::span<T const> delta, auto const& m) {
        if (keeps_residual()) kernels::assign(on, delta, residual_);
        take_off(on, m);
    }
    /// The same, but the array of delta becomes e, and the old array of e is left in its place: only the terms of m are
    /// touched.
    void update(B& on, typename B::template array<T>&& delta, auto const& m) {
        if (keeps_residual()) residual_.swap(delta);
        take_off(on, m);
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

    /// Whether what a collective leaves out can be added to e: with a decay, and no rate. With a rate, h_i would
    /// include terms that no rank applied, and mean_shift() would not be the mean of the h_i.
    bool keeps_leftover() const { return rate_ == 0 && keeps_residual(); }
    /// e <- e + m.
    void keep(B& on, auto const& m) {
        LACONIC_EXPECTS(keeps_leftover());
        add_message(on, std::span<T>(residual_), T(1), m);
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

    /// Merges the states of several ranks: adds `share` times h, mean h and e of another memory, which has the same
    /// rate and decay.
    void add(B& on, T share, memory const& other) {
        auto const one = [&](auto const& from, auto& to) {
            if (from.empty()) return;
            to.resize(from.size());
            add_scaled(on, share, std::span<T const>(from), std::span<T>(to));
        };
        one(other.shift_, shift_);
        one(other.shift_, mean_shift_);
        one(other.residual_, residual_);
    }
    /// Multiplies h, mean h and e by `share`.
    void scale(B& on, T share) {
        for (auto* x : {&shift_, &mean_shift_, &residual_}) multiply(on, share, std::span<T>(*x));
    }
    /// Sets mean h, after other ranks have joined or some have left.
    void set_mean_shift(B& on, std::span<T const> mean) {
        mean_shift_.resize(mean.size());
        copy(on, mean, std::span<T>(mean_shift_));
    }

    void state(auto& archive) {
        archive(shift_);
        archive.vectors(mean_shift_);
        archive(residual_);
    }
    friend std::string to_string(memory const& m) {
        return detail::concat(
            {"memory(rate=", m.rate_, (m.decay_ == 0 ? "" : detail::concat({", decay=", m.decay_})), ")"});
    }

  private:
    void take_off(B& on, auto const& m) {
        if (keeps_residual()) add_message(on, std::span<T>(residual_), T(-1), m);
        if (rate_ != 0) add_message(on, std::span<T>(shift_), static_cast<T>(rate_), m);
    }

    double rate_, decay_;
    typename B::template array<T> shift_, mean_shift_, residual_;
};

}  // namespace laconic
