// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "laconic/estimate/estimator.hpp"

namespace laconic {

/// PAGE (Li, Bao, Zhang, Richtarik, ICML 2021): v, the last estimate, becomes v + grad f_B(x) - grad f_B(last x) with a
/// few rows B, the same for both, or grad f(x) in the first round and, on all ranks at once, with probability p in each
/// other. It is biased, and exact where x stands still. A batch of 0 is the full gradient in every round. Costs two
/// batches a round, or a full gradient. Throws argument_error for p outside [0, 1].
template <Scalar T = double, class B = host>
class page {
  public:
    explicit page(std::size_t batch = 0, double p = 0) : p_(p), some_(batch), has_batch_(batch > 0) {
        if (!(p >= 0 && p <= 1)) throw argument_error({"page: p = ", p, " is outside [0, 1]"});
    }

    std::optional<double> operator()(B& on, auto const& f, round_context const& now, std::span<T const> x,
                                     std::span<T> g) {
        if (has_batch_) there_.resize(x.size()), some_.reserve();
        if (!has_batch_ || last_.empty() || now.shared.child(3).uniform(0) < p_) {
            auto const value = full_(on, f, now, x, g);
            if (has_batch_) remember(on, x, g);
            return value;
        }
        some_(on, f, now, x, g);
        some_(on, f, now, std::span<T const>(last_), std::span<T>(there_));
        add_scaled(on, T(-1), std::span<T const>(there_), g);
        add_scaled(on, T(1), std::span<T const>(estimate_), g);
        remember(on, x, g);
        return std::nullopt;
    }
    void update(B& on, std::span<T const>) {
        kernels::assign(on, std::span<T const>(next_), last_);
        kernels::assign(on, std::span<T const>(next_estimate_), estimate_);
    }

    /// v; empty before the first round, and without a batch.
    std::span<T const> last_estimate() const { return estimate_; }

    void state(auto& archive) { archive.vectors(last_, estimate_); }
    friend std::string to_string(page const& e) {
        if (!e.has_batch_) return to_string(e.full_);
        return detail::concat({"page(p=", e.p_, ") of ", to_string(e.some_)});
    }

  private:
    void remember(B& on, std::span<T const> x, std::span<T const> g) {
        kernels::assign(on, x, next_);
        kernels::assign(on, g, next_estimate_);
    }

    double p_;
    mini_batch full_, some_;
    bool has_batch_;
    typename B::template array<T> last_, estimate_, next_, next_estimate_, there_;
};

}  // namespace laconic
