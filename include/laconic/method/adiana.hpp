// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "laconic/method/overrides.hpp"
#include "laconic/recursion.hpp"

namespace laconic {

namespace detail {

/// ADIANA's numbers, by the names of its paper; eta is the step.
struct adiana_options {
    double theta1 = .25, theta2 = .5, eta = 0, gamma = 0, beta = 1;
    double p = 1;  ///< of w moving to y
};

/// The points of ADIANA, at which rounds take their gradients: see adiana. Beside the iterate y it keeps z and w, and
/// from an even round to the next one the y before. State: these.
template <Scalar T = double, class B = host>
class adiana_points {
  public:
    explicit adiana_points(adiana_options how) : how_(how) {}

    template <class F>
    std::optional<double> operator()(B& on, F const& f, round_context const& now, std::span<T const> y,
                                     std::span<T> g) {
        is_second_ = now.round % 2 == 1;
        w_moves_ = is_second_ && now.shared.child(2).uniform(0) < how_.p;
        kernels::assign(on, y, point_);
        std::span<T> const x(point_);
        if (is_second_ && !w_.empty()) {
            copy(on, std::span<T const>(w_), x);
        } else if (!w_.empty()) {
            multiply(on, static_cast<T>(1 - how_.theta1 - how_.theta2), x);
            add_scaled(on, static_cast<T>(how_.theta1), std::span<T const>(z_), x);
            add_scaled(on, static_cast<T>(how_.theta2), std::span<T const>(w_), x);
        }
        return gradient_(on, f, now, std::span<T const>(x), g), std::nullopt;
    }
    /// In an even round, the first of two, the step goes from the point of its gradient.
    void before_step(B& on, std::span<T> y, auto const&) {
        if (is_second_) return;
        before_.resize(y.size());
        copy(on, std::span<T const>(y), std::span<T>(before_));
        copy(on, std::span<T const>(point_), y);
    }
    void update(B& on, std::span<T const> y) {
        if (!is_second_) {
            if (w_.empty()) kernels::assign(on, std::span<T const>(before_), w_), z_ = w_;
            std::span<T> const z(z_);
            double const along = how_.gamma / how_.eta;
            multiply(on, static_cast<T>(how_.beta), z);
            add_scaled(on, static_cast<T>(1 - how_.beta - along), std::span<T const>(point_), z);
            add_scaled(on, static_cast<T>(along), y, z);
        } else if (w_moves_ && !w_.empty()) {
            copy(on, std::span<T const>(before_), std::span<T>(w_));
        }
    }

    static constexpr bool corrects_local_steps() { return true; }

    void state(auto& archive) { archive.vectors(z_, w_, before_); }
    friend std::string to_string(adiana_points const& e) {
        auto const& k = e.how_;
        return concat({"adiana_points(theta1=", k.theta1, ", theta2=", k.theta2, ", eta=", k.eta, ", gamma=", k.gamma,
                       ", beta=", k.beta, ", p=", k.p, ")"});
    }

  private:
    adiana_options how_;
    mini_batch gradient_;
    bool is_second_ = false, w_moves_ = false;
    typename B::template array<T> z_, w_, before_, point_;
};

/// A memory of the messages of odd rounds alone: those of even rounds are differences to the same shift, and leave it
/// as it is; the estimate of an odd round is 0, so that nothing steps along it.
template <Scalar T = double, class B = host>
class memory_of_odd_rounds : public memory<T, B> {
    using base = memory<T, B>;

  public:
    using base::base;

    bool make_delta(B& on, round_context const& now, T scale, std::span<T> g) {
        is_odd_ = now.round % 2 == 1;
        return base::make_delta(on, now, scale, g);
    }
    void compensate(B& on, round_context const& now, std::span<T> g) { make_delta(on, now, T(1), g); }
    void update(B& on, auto&& delta, auto const& m) {
        if (is_odd_) base::update(on, std::forward<decltype(delta)>(delta), m);
    }
    void preview(B& on, round_context const& now, std::span<T> mean) const {
        now.round % 2 == 0 ? base::preview(on, now, mean) : fill(on, mean, T(0));
    }
    void reconstruct(B& on, round_context const& now, std::span<T> mean) {
        if (now.round % 2 == 0) return preview(on, now, mean);
        base::reconstruct(on, now, mean);
        fill(on, mean, T(0));
    }
    friend std::string to_string(memory_of_odd_rounds const& m) {
        return to_string(static_cast<base const&>(m)) + " of odd rounds";
    }

  private:
    bool is_odd_ = false;
};

}  // namespace detail

/// ADIANA (Li, Kovalev, Qian, Richtarik, ICML 2020): diana with acceleration, for strongly convex f. It sends two
/// messages for a step, here in two rounds: an even one with m_i, an odd one with m_i', both differences to one shift,
///     x = t1 z + t2 w + (1 - t1 - t2) y,    m_i = C(grad f_i(x) - h_i),    y+ = x - step (mean h_i + mean m_i),
///     z <- beta z + (1 - beta) x + (gamma / step)(y+ - x),
///     m_i' = C(grad f_i(w) - h_i),    h_i <- h_i + alpha m_i',    w <- y with probability p, then y <- y+ .
/// y is the iterate; z and w start there. With L = max L_i and mu of f, alpha = 1 / (1 + omega) and
///     p = min{1, max{1, sqrt(n / (32 omega)) - 1} / (2 (1 + omega))},
///     step = min{1 / (2 L), n / (64 omega (2 p (omega + 1) + 1)^2 L)},
///     t1 = min{1/4, sqrt(step mu / p)},    t2 = 1/2,    gamma = step / (2 (t1 + step mu)),    beta = 1 - gamma mu
/// the number of rounds to a distance from the optimum grows as sqrt(L / mu) does, and not as L / mu. The constants are
/// large: on quadratics of 10 ranks with omega = 4 it takes more steps than diana for L / mu = 100 and 1000 and fewer
/// for 10000, each with two messages and two gradients (tests/method/adiana.cpp). A longer `step` that is given, from
/// which t1, gamma and beta follow, may pay sooner; no theorem covers it.
template <class C>
struct adiana {
    static_assert(detail::require_unbiased<C>());
    C compressor;
    overrides given{};

    template <Scalar T, class B>
    recursion<C, detail::memory_of_odd_rounds<T, B>, gradient_step, fixed_level, detail::adiana_points<T, B>> compose(
        problem const& its) const {
        detail::theory const of(*this, its);
        double const omega = of.omega(compressor, "use ef21 for a contractive one"), n = its.workers;
        double const mu = of.strong_convexity(), alpha = of.memory(1 / (1 + omega), 1 / (1 + omega));
        detail::adiana_options k;
        k.p = std::min(1.0, std::max(1.0, std::sqrt(n / (32 * omega)) - 1) / (2 * (1 + omega)));
        k.eta = of.step([&] {
            double const moves = 2 * k.p * (omega + 1) + 1;
            return std::min(1.0 / 2, n / (64 * omega * moves * moves)) / of.largest_smoothness();
        });
        k.theta1 = std::min(1.0 / 4, std::sqrt(k.eta * mu / k.p));
        k.gamma = k.eta / (2 * (k.theta1 + k.eta * mu)), k.beta = 1 - k.gamma * mu;
        return {compressor, {alpha, 0}, gradient_step{k.eta}, {}, detail::adiana_points<T, B>(k)};
    }

    bool operator==(adiana const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("adiana", "g at accelerated points, C unbiased, alpha in (0, 1/(1+omega)] in every second round",
                 "Li, Kovalev, Qian, Richtarik, ICML 2020", detail::compressor_field, detail::step_field,
                 detail::memory_field);
    }
};
template <class C>
adiana(C, overrides = {}) -> adiana<C>;

}  // namespace laconic
