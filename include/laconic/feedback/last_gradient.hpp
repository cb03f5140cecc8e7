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
/// and the estimate starts anew (MARINA; Gorbunov, Burlachenko, Li, Richtarik, ICML 2021).
template <Scalar T = double, class B = host>
class last_gradient {
  public:
    explicit last_gradient(double p = 1) : p_(p) {}

    void start(std::size_t dimension) {
        last_.resize(dimension);
        next_.resize(dimension);
        estimate_.resize(dimension);
    }
    /// g <- g - last g, or g as it is in a round in full.
    void compensate(B& on, round_context const& now, std::span<T> g) { make_delta(on, now, T(1), g); }
    /// The same for scale x g; returns whether all of it is finite. Two passes, one more for a scale that is not 1.
    bool make_delta(B& on, round_context const& now, T scale, std::span<T> g) {
        using kernels::compensate;
        if (scale != 1) multiply(on, scale, g);
        std::span<T const> const all(g), last(last_);
        kernels::assign(on, all, next_);
        return compensate(on, T(1), all, detail::sends_in_full(now, p_) ? last.first(0) : last, T(0), last.first(0), g);
    }
    void update(B&, std::span<T const>, auto const&) { std::swap(last_, next_); }
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

    void state(auto& archive) { archive(last_, estimate_); }
    friend std::string to_string(last_gradient const& f) { return detail::concat({"last_gradient(", f.p_, ")"}); }

  private:
    double p_;
    typename B::template array<T> last_, next_, estimate_;
};

}  // namespace laconic
