// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "laconic/compress/identity_or.hpp"
#include "laconic/feedback/feedback.hpp"

namespace laconic {

/// Sends the change of the gradient since the last round; the estimate of the mean gradient grows by the mean of the
/// messages. In the rounds in which all ranks send in full (`sends_in_full` with this p) it sends the gradient itself,
/// and the estimate starts anew (MARINA; Gorbunov, Burlachenko, Li, Richtarik, ICML 2021). With a correction a > 0 it
/// keeps h_i, the sum of this rank's messages, and sends g - last g - a (h_i - last g): h_i then follows the gradient,
/// so that only the first round needs to be in full, and p is 0 (DASHA; Tyurin, Richtarik, ICLR 2023).
template <Scalar T = double, class B = host>
class last_gradient {
  public:
    /// Throws argument_error for a correction outside [0, 1], and for one with p > 0.
    explicit last_gradient(double p = 1, double correction = 0) : p_(p), correction_(correction) {
        if (!(correction >= 0 && correction <= 1 && !(correction > 0 && p > 0)))
            throw argument_error({"last_gradient: p = ", p, ", correction = ", correction,
                                  ": a correction is from 0 to 1, and goes with p = 0"});
    }

    void start(std::size_t dimension) {
        if (correction_ > 0) shift_.resize(dimension);
        last_.resize(dimension);
        next_.resize(dimension);
        estimate_.resize(dimension);
    }
    /// g <- g - last g - a (h - last g), or g as it is in a round in full.
    void compensate(B& on, round_context const& now, std::span<T> g) { make_delta(on, now, T(1), g); }
    /// The same for scale x g; returns whether all of it is finite. Two passes, one more for a scale that is not 1, and
    /// two more with a correction.
    bool make_delta(B& on, round_context const& now, T scale, std::span<T> g) {
        using kernels::compensate;
        if (scale != 1) multiply(on, scale, g);
        std::span<T const> const all(g), last(last_);
        kernels::assign(on, all, next_);
        bool const in_full = detail::sends_in_full(now, p_);
        if (correction_ > 0 && !in_full) {
            add_scaled(on, static_cast<T>(correction_), last, g);
            add_scaled(on, static_cast<T>(-correction_), std::span<T const>(shift_), g);
        }
        return compensate(on, T(1), all, in_full ? last.first(0) : last, T(0), last.first(0), g);
    }
    void update(B& on, std::span<T const>, auto const& m) {
        std::swap(last_, next_);
        if (correction_ > 0) add_message(on, std::span<T>(shift_), T(1), m);
    }
    /// mean <- mean + last estimate, or mean as it is in a round in full. One pass.
    void reconstruct(B& on, round_context const& now, std::span<T> mean) {
        if (detail::sends_in_full(now, p_))
            kernels::assign(on, std::span<T const>(mean), estimate_);
        else  // the mean and the estimate become their sum
            complete_and_remember(on, mean, T(1), std::span<T>(estimate_));
    }

    /// The result of reconstruct(), without a change of state.
    void preview(B& on, round_context const& now, std::span<T> mean) const {
        if (!detail::sends_in_full(now, p_)) add_scaled(on, T(1), std::span<T const>(estimate_), mean);
    }

    /// This rank's gradient at the last iterate, and the estimate of the mean gradient that all ranks share.
    std::span<T const> last() const { return last_; }
    std::span<T const> last_estimate() const { return estimate_; }
    /// h_i; empty without a correction.
    std::span<T const> shift() const { return shift_; }

    void state(auto& archive) {
        archive(last_, estimate_);
        if (correction_ > 0) archive(shift_);
    }
    friend std::string to_string(last_gradient const& f) {
        if (f.correction_ > 0) return detail::concat({"last_gradient(", f.p_, ", correction=", f.correction_, ")"});
        return detail::concat({"last_gradient(", f.p_, ")"});
    }

  private:
    double p_, correction_;
    typename B::template array<T> last_, next_, estimate_, shift_;
};

}  // namespace laconic
