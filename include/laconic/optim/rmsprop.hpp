// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <string>

#include "laconic/backend/array.hpp"
#include "laconic/backend/settle.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"
#include "laconic/optim/step.hpp"

namespace laconic {

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
            throw argument_error(detail::concat(
                {"rmsprop: decay = ", decay, ", epsilon = ", epsilon, " are outside [0, 1) and (0, oo)"}));
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
    template <class Archive>
    void state(Archive& archive) {
        archive.vectors(squares_);
    }
    friend std::string to_string(rmsprop const& s) {
        return detail::concat({"rmsprop(", double{s.rate_}, ", ", double{s.decay_}, ", ", double{s.epsilon_}, ")"});
    }

  private:
    T rate_, decay_, epsilon_;
    typename B::template array<T> squares_;
};

}  // namespace laconic
