// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "laconic/backend/array.hpp"
#include "laconic/estimate/estimator.hpp"

namespace laconic {

/// Loopless SVRG (Hofmann et al. 2015; Kovalev, Horvath, Richtarik, ALT 2020): with a reference point w, which all
/// ranks set to the iterate at once with probability p in each round, a few rows' gradients at x and at w correct the
/// full gradient at w: g = grad f_B(x) - grad f_B(w) + grad f(w). Unbiased; exact in the first round, where w is the
/// starting point. p = 0 means batch / samples. Costs two batches a round, and a full gradient where w moves. Throws
/// argument_error for a batch of 0 and p outside [0, 1].
template <Scalar T = double, class B = host>
class l_svrg {
  public:
    explicit l_svrg(std::size_t batch = 1, double p = 0) : batch_(batch), p_(p) {
        if (batch == 0) throw argument_error("l_svrg: a batch of 0 rows");
        if (!(p >= 0 && p <= 1)) throw argument_error(detail::concat({"l_svrg: p = ", p, " is outside [0, 1]"}));
    }

    template <class F>
    requires FiniteSum<F, T> std::optional<double>
    operator()(B& on, F const& f, round_context const& now, std::span<T const> x, std::span<T> g) {
        double const p = p_ > 0 ? p_ : std::min(1.0, static_cast<double>(batch_) / static_cast<double>(f.samples()));
        bool const first = reference_.empty();
        moves_ = first || now.shared.uniform(0) < p;
        if (moves_) kernels::assign(on, x, next_);
        there_.resize(x.size());
        next_full_.resize(x.size());
        if (first) {
            f.gradient(x, g);
            kernels::assign(on, std::span<T const>(g), next_full_);
            rows_.reserve(batch_);
            return std::nullopt;
        }
        if (reference_.size() != x.size() || full_.size() != x.size())
            throw shape_error("l_svrg: the reference point is of another objective");
        detail::draw_rows(now.gradient, f.samples(), batch_, rows_);
        std::span<std::uint32_t const> const rows(rows_);
        f.batch_gradient(rows, x, g);
        f.batch_gradient(rows, std::span<T const>(reference_), std::span<T>(there_));
        add_scaled(on, T(-1), std::span<T const>(there_), g);
        add_scaled(on, T(1), std::span<T const>(full_), g);
        if (moves_) {  // now, as a number that is not finite must be found before the message is sent
            f.gradient(x, std::span<T>(next_full_));
            detail::show_non_finite(on, std::span<T const>(next_full_), g);
        }
        return std::nullopt;
    }
    void update(B& on, std::span<T const>) {
        if (!moves_) return;
        kernels::assign(on, std::span<T const>(next_), reference_);
        kernels::assign(on, std::span<T const>(next_full_), full_);
    }

    /// w, and the gradient there; empty before the first round.
    std::span<T const> reference() const { return reference_; }
    std::span<T const> reference_gradient() const { return full_; }

    void state(auto& archive) { archive.vectors(reference_, full_); }
    friend std::string to_string(l_svrg const& e) {
        return detail::concat({"l_svrg(batch=", e.batch_, ", p=", e.p_, ")"});
    }

  private:
    std::size_t batch_;
    double p_;
    bool moves_ = false;
    std::vector<std::uint32_t> rows_;
    typename B::template array<T> reference_, full_, next_, next_full_, there_;
};

}  // namespace laconic
