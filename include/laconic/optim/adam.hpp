// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "laconic/optim/step.hpp"

namespace laconic {

/// Adam (Kingma, Ba, ICLR 2015, algorithm 1), with m = v = 0 at the start, in the t-th step, counted from 1:
///     m <- beta1 m + (1 - beta1) d,   v <- beta2 v + (1 - beta2) d^2,
///     x <- x - rate (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon), each coordinate by itself.
/// On backends whose arrays the host reaches.
template <Scalar T = double, class B = host>
class adam {
    static_assert(OnHost<B>, "Adam runs on the host");

  public:
    /// Throws argument_error unless beta1 and beta2 are in [0, 1) and epsilon is above 0.
    explicit adam(double rate = 1e-3, double beta1 = 0.9, double beta2 = 0.999, double epsilon = 1e-8)
        : rate_(rate), beta1_(beta1), beta2_(beta2), epsilon_(epsilon) {
        if (!(beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1 && epsilon > 0))
            throw argument_error(
                {"adam: beta1 = ", beta1, ", beta2 = ", beta2, ", epsilon = ", epsilon, " are out of range"});
    }

    void operator()(B&, std::span<T> x, std::span<T> d) {
        mean_.resize(x.size());
        square_.resize(x.size());
        double const t = static_cast<double>(++taken_);
        double const first = 1 - std::pow(beta1_, t), second = 1 - std::pow(beta2_, t);
        for (std::size_t j = 0; j < x.size(); ++j) {
            double const g = static_cast<double>(d[j]);
            double const m = beta1_ * static_cast<double>(mean_[j]) + (1 - beta1_) * g;
            double const v = beta2_ * static_cast<double>(square_[j]) + (1 - beta2_) * g * g;
            mean_[j] = static_cast<T>(m);
            square_[j] = static_cast<T>(v);
            x[j] -= static_cast<T>(rate_ * (m / first) / (std::sqrt(v / second) + epsilon_));
        }
    }

    double rate() const { return rate_; }
    /// m and v; empty before the first step.
    std::span<T const> mean() const { return mean_; }
    std::span<T const> square() const { return square_; }

    void state(auto& archive) {
        archive(taken_);
        archive.vectors(mean_, square_);
    }
    friend std::string to_string(adam const& s) {
        return detail::concat(
            {"adam(", s.rate_, ", beta1=", s.beta1_, ", beta2=", s.beta2_, ", epsilon=", s.epsilon_, ")"});
    }

  private:
    double rate_, beta1_, beta2_, epsilon_;
    std::uint64_t taken_ = 0;
    typename B::template array<T> mean_, square_;
};

/// RMSProp (Tieleman, Hinton 2012): s <- decay s + (1 - decay) d^2, x <- x - rate d / sqrt(s + epsilon), number by
/// number. s is 1 at the start, and the defaults are TensorFlow's. Only on a backend whose memory the host reaches.
template <Scalar T = double, class B = host>
requires OnHost<B>
class rmsprop {
  public:
    /// Throws argument_error unless decay is in [0, 1) and epsilon is above 0 and finite.
    explicit rmsprop(double rate = 1e-3, double decay = 0.9, double epsilon = 1e-10)
        : rate_(static_cast<T>(rate)), decay_(static_cast<T>(decay)), epsilon_(static_cast<T>(epsilon)) {
        if (!(decay >= 0 && decay < 1 && epsilon > 0 && std::isfinite(epsilon)))
            throw argument_error(
                {"rmsprop: decay = ", decay, ", epsilon = ", epsilon, " are outside [0, 1) and (0, oo)"});
    }

    void operator()(B&, std::span<T> x, std::span<T> d) {
        if (squares_.empty()) squares_.assign(x.size(), T(1));
        for (std::size_t i = 0; i < x.size(); ++i) {
            T kept = decay_ * squares_[i], fresh = (T(1) - decay_) * (d[i] * d[i]);
            simd::settle(kept), simd::settle(fresh);  // the same bits for every processor
            squares_[i] = kept + fresh;
            x[i] -= rate_ * d[i] / std::sqrt(squares_[i] + epsilon_);
        }
    }

    double rate() const { return double{rate_}; }
    /// s; empty before the first step.
    std::span<T const> squares() const { return squares_; }
    void state(auto& archive) { archive.vectors(squares_); }
    friend std::string to_string(rmsprop const& s) {
        return detail::concat({"rmsprop(", double{s.rate_}, ", ", double{s.decay_}, ", ", double{s.epsilon_}, ")"});
    }

  private:
    T rate_, decay_, epsilon_;
    typename B::template array<T> squares_;
};

}  // namespace laconic
