// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "laconic/feedback/feedback.hpp"

namespace laconic {

/// Momentum on each rank, accumulated until it is sent (Deep Gradient Compression, Lin, Han, Mao, Wang, Dally, ICLR
/// 2018):
///     u <- m u + g,           v <- v + u          delta = v
///     u <- m (u + g),         v <- v + u + g      with Nesterov's momentum
/// After a message v loses the message and, with factor masking, u = 0 wherever the message is not 0. With messages in
/// full it is momentum SGD without masking, and SGD with it. m is in [0, 1); both vectors start at zero and have the
/// gradient's dimension.
template <Scalar T = double, class B = host>
class momentum_correction {
  public:
    explicit momentum_correction(double m = 0.9, bool nesterov = false, bool masking = true)
        : factor_(m), nesterov_(nesterov), masking_(masking) {
        if (!(m >= 0 && m < 1)) throw argument_error({"momentum_correction: m = ", m, " is outside [0, 1)"});
    }

    void start(std::size_t dimension) {
        momentum_.resize(dimension);
        next_.resize(dimension);
        residual_.resize(dimension);
    }

    /// Replaces g by delta, and computes the next u.
    void compensate(B& on, round_context const& now, std::span<T> g) { make_delta(on, now, T(1), g); }
    /// The same for scale x g; returns whether all of it is finite. Two passes, of Nesterov's momentum three; one more
    /// for a scale that is not 1.
    bool make_delta(B& on, round_context const&, T scale, std::span<T> g) {
        if (scale != 1) multiply(on, scale, g);
        auto const add = [&](T a, std::span<T const> x, T b, std::span<T const> y, std::span<T> sum) {
            using kernels::compensate;
            return compensate(on, a, x, std::span<T const>(), b, y, sum);
        };
        auto const m = static_cast<T>(factor_);
        add(nesterov_ ? m : T(1), g, m, momentum_, next_);
        if (!nesterov_) return add(T(1), next_, T(1), residual_, g);
        add(T(1), g, T(1), next_, g);
        return add(T(1), g, T(1), residual_, g);
    }

    void update(B& on, std::span<T const> delta, auto const& m) {
        kernels::assign(on, delta, residual_);
        take_off(on, m);
    }
    /// The same, but the array of delta becomes v: where m lists its terms, only they are touched.
    void update(B& on, typename B::template array<T>&& delta, auto const& m) {
        residual_.swap(delta);
        take_off(on, m);
    }

    void reconstruct(B&, round_context const&, std::span<T>) const {}
    void preview(B&, round_context const&, std::span<T>) const {}

    /// v <- v + m. Momentum that was cleared stays so, as the leftover may be another rank's.
    static constexpr bool keeps_leftover() { return true; }
    void keep(B& on, auto const& m) { add_message(on, std::span<T>(residual_), T(1), m); }

    /// v: what this rank has not sent yet.
    std::span<T const> residual() const { return residual_; }
    /// u: this rank's momentum.
    std::span<T const> momentum() const { return momentum_; }

    void state(auto& archive) { archive(momentum_, residual_); }
    friend std::string to_string(momentum_correction const& f) {
        return detail::concat({"momentum_correction(", f.factor_, (f.nesterov_ ? ", nesterov" : ""),
                               (f.masking_ ? ")" : ", no masking)")});
    }

  private:
    template <class M>
    void take_off(B& on, M const& m) {
        add_message(on, std::span<T>(residual_), T(-1), m);
        momentum_.swap(next_);
        if (!masking_) return;
        if constexpr (messages::TermMessage<M>) {
            clear_terms(on, std::span<T>(momentum_), m.terms());
        } else {
            dense_message_.assign(momentum_.size(), T(0));
            add_message(on, std::span<T>(dense_message_), T(1), m);
            clear_terms(
                on, std::span<T>(momentum_),
                typename messages::full_vector<T, B>::terms_type{{dense_message_.data()}, dense_message_.size()});
        }
    }

    double factor_;
    bool nesterov_, masking_;
    typename B::template array<T> momentum_, next_, residual_, dense_message_;
};

}  // namespace laconic
