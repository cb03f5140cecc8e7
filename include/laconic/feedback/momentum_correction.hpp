// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"
#include "laconic/feedback/feedback.hpp"

namespace laconic {

/// Momentum on each rank, gathered until it is said (Deep Gradient Compression, Lin, Han, Mao, Wang, Dally, ICLR 2018):
///     u <- m u + g,           v <- v + u          news = v
///     u <- m (u + g),         v <- v + u + g      with Nesterov's momentum
/// and of what has been said v loses the message and, with factor masking, u all that it has: where the message is not
/// 0, u = 0. What a sparse message says exactly therefore starts anew. Without masking, and with messages in full, it
/// is momentum SGD; with masking that is SGD. m in [0, 1); both vectors start at zero and have the gradient's
/// dimension.
template <Scalar T = double, class B = host>
class momentum_correction {
  public:
    explicit momentum_correction(double m = 0.9, bool nesterov = false, bool masking = true)
        : factor_(m), nesterov_(nesterov), masking_(masking) {
        if (!(m >= 0 && m < 1)) throw argument_error("momentum_correction: m = " + shortest(m) + " is outside [0, 1)");
    }

    void start(std::size_t dimension) {
        momentum_.resize(dimension);
        next_.resize(dimension);
        unsaid_.resize(dimension);
        if (masking_) said_.resize(dimension);
    }

    void before(B& on, occasion const&, std::span<T> g) {
        std::span<T> const u(next_);
        std::copy(momentum_.begin(), momentum_.end(), u.begin());
        if (nesterov_) add_scaled(on, T(1), std::span<T const>(g), u);
        multiply(on, static_cast<T>(factor_), u);
        if (nesterov_)  // g <- g + u
            add_scaled(on, T(1), std::span<T const>(u), g);
        else  // u <- u + g, g <- u
            for (std::size_t i = 0; i < g.size(); ++i) g[i] = u[i] += g[i];
        add_scaled(on, T(1), std::span<T const>(unsaid_), g);
    }

    template <class M>
    void after(B& on, std::span<T const> news, M const& m) {
        std::copy(news.begin(), news.end(), unsaid_.begin());
        add_message(on, std::span<T>(unsaid_), T(-1), m);
        std::copy(next_.begin(), next_.end(), momentum_.begin());
        if (!masking_) return;
        std::fill(said_.begin(), said_.end(), T(0));
        add_message(on, std::span<T>(said_), T(1), m);
        for (std::size_t i = 0; i < said_.size(); ++i)
            if (said_[i] != 0) momentum_[i] = 0;
    }

    void estimate(B&, occasion const&, std::span<T>) const {}

    /// v <- v + m. Momentum that was forgotten where this rank spoke stays so: what comes back may be others'.
    static constexpr bool keeps_returned() { return true; }
    template <class M>
    void keep(B& on, M const& m) {
        add_message(on, std::span<T>(unsaid_), T(1), m);
    }

    /// v: what this rank has not said yet.
    std::span<T const> unsaid() const { return unsaid_; }
    /// u: this rank's momentum.
    std::span<T const> momentum() const { return momentum_; }

    template <class Archive>
    void state(Archive& archive) {
        archive(momentum_, unsaid_);
    }
    friend std::string to_string(momentum_correction const& f) {
        return "momentum_correction(" + shortest(f.factor_) + (f.nesterov_ ? ", nesterov" : "") +
               (f.masking_ ? ")" : ", no masking)");
    }

  private:
    double factor_;
    bool nesterov_, masking_;
    typename B::template array<T> momentum_, next_, unsaid_, said_;
};

static_assert(Feedback<momentum_correction<>> && Feedback<momentum_correction<float>, float>);

}  // namespace laconic
