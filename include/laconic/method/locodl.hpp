// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "laconic/method/overrides.hpp"
#include "laconic/recursion.hpp"

namespace laconic {

namespace detail {

/// LoCoDL's numbers.
struct locodl_options {
    double step = 0, p = 1;
    double lambda = 0;  ///< (lambda / 2) |x|^2 of every f_i is the function of the common model
    double rho = 1;     ///< how far models go to their mean at an exchange
    double pull = 1;    ///< p chi / (1 + 2 omega), by which shifts move
    std::size_t batch = 0;
};

/// LoCoDL's local steps: see locodl. Each rank keeps its model x_i, beside the iterate y, and the shifts u_i and v,
/// where mean u_i + v = 0. g_i is y^ - x_i^, of both models after the local steps. State: x_i, u_i, v.
template <Scalar T = double, class B = host>
class locodl_steps {
  public:
    explicit locodl_steps(locodl_options how) : how_(how), gradient_(how.batch) { check_chance("locodl", how.p); }

    template <class F>
    std::optional<double> operator()(B& on, F const& f, round_context const& now, std::span<T const> y,
                                     std::span<T> g) {
        kernels::assign(on, model_.empty() ? y : std::span<T const>(model_), own_);
        kernels::assign(on, y, common_);
        std::span<T> const own(own_), common(common_);
        T const size = static_cast<T>(how_.step), shrunk = static_cast<T>(how_.step * how_.lambda);
        round_context at = now;
        for (std::uint64_t l = 0, n = drawn_steps(now, how_.p); l < n; ++l) {
            at.gradient = now.gradient.child(l);
            gradient_(on, f, at, std::span<T const>(own), g);
            multiply(on, 1 + shrunk, own), multiply(on, 1 - shrunk, common);
            add_scaled(on, -size, std::span<T const>(g), own);
            if (shift_.empty()) continue;
            add_scaled(on, size, std::span<T const>(shift_), own);
            add_scaled(on, size, std::span<T const>(common_shift_), common);
        }
        compensate(on, T(1), std::span<T const>(common), std::span<T const>(own), T(0), std::span<T const>(), g);
        return std::nullopt;  // f_i at y is not among what it has evaluated
    }
    void before_step(B& on, std::span<T> x, auto const& m) {
        shift_.resize(x.size());
        add_message(on, std::span<T>(shift_), static_cast<T>(how_.pull / how_.step), m);  // of y^ - x_i^
        copy(on, std::span<T const>(common_), x);
    }
    void update(B& on, std::span<T const> x) {
        model_.resize(x.size()), common_shift_.resize(x.size());
        std::span<T> const own(own_), move(common_), shift(shift_), common_shift(common_shift_);
        // x_i <- (1 - rho) x_i^ + rho y^ + the move of y, before y^ becomes that move.
        std::span<T> const model(model_);
        copy(on, x, model);
        add_scaled(on, static_cast<T>(1 - how_.rho), std::span<T const>(own), model);
        add_scaled(on, static_cast<T>(how_.rho - 1), std::span<T const>(move), model);
        multiply(on, T(-1), move);
        add_scaled(on, T(1), x, move);  // rho times the paper's d bar
        T const by = static_cast<T>(how_.pull / how_.step / how_.rho);
        add_scaled(on, by, std::span<T const>(move), common_shift);
        add_scaled(on, by, std::span<T const>(move), shift);
    }

    static constexpr bool corrects_local_steps() { return true; }
    /// x_i, u_i and v; empty before the first round.
    std::span<T const> model() const { return model_; }
    std::span<T const> shift() const { return shift_; }
    std::span<T const> common_shift() const { return common_shift_; }

    void state(auto& archive) { archive.vectors(model_, shift_, common_shift_); }
    friend std::string to_string(locodl_steps const& e) {
        return concat({"locodl_steps(p=", e.how_.p, ", step=", e.how_.step, ", lambda=", e.how_.lambda,
                       ", rho=", e.how_.rho, ", pull=", e.how_.pull, "), ", to_string(e.gradient_)});
    }

  private:
    locodl_options how_;
    mini_batch gradient_;
    typename B::template array<T> model_, shift_, common_shift_, own_, common_;
};

}  // namespace detail

/// LoCoDL (Condat, Maranjyan, Richtarik, ICLR 2025): local steps and compressed messages, for strongly convex f_i. A
/// share (lambda / 2) |x|^2 of each f_i, lambda = min mu_i / 2, becomes the function of a common model y, which is the
/// iterate. In a local step, with the shifts u_i and v from 0 on,
///     x_i^ = x_i - step (grad f_i(x_i) - lambda x_i - u_i),    y^ = y - step (lambda y - v) ,
/// after which, with probability p, the same on all ranks, they exchange m_i = C(x_i^ - y^): with d = sum m_i / (2 n),
///     x_i = (1 - rho) x_i^ + rho (y^ + d),    y = y^ + rho d,
///     u_i += p chi / (step (1 + 2 omega)) (d - m_i),    v += p chi / (step (1 + 2 omega)) d;
/// a round is one exchange and the local steps before it. With L = max L_i, mu = min mu_i, omega' = omega / n for the
/// ranks' independent draws, rho = chi = 1 / (1 + omega'), step = 2 / L and p = min(1, sqrt((1 + omega')(1 + 2 omega) /
/// (2 L / mu - 1))),
///     (sum |x_i - x*|^2 + n |y - x*|^2) / step + step (1 + 2 omega) / (p^2 chi) (sum |u_i - u_i*|^2 + n |v - v*|^2)
/// falls in expectation by the factor max{(1 - mu / L)^2, 1 - p^2 chi / (1 + 2 omega)} a local step, where u_i* and v*
/// are the gradients at x* of the parts. With another step the first factor is max{(1 - step mu / 2)^2, (1 - step (L -
/// mu / 2))^2}. With a batch it approaches the optimum up to a distance. A p below 1e-6 is refused.
template <class C>
struct locodl {
    static_assert(detail::require_unbiased<C>());
    C compressor;
    double p = 0;  ///< 0: the theorem's
    overrides given{};

    template <Scalar T, class B>
    recursion<C, memory<T, B>, gradient_step, fixed_level, detail::locodl_steps<T, B>> compose(
        problem const& its) const {
        detail::theory const of(*this, its);
        double const omega = of.omega(compressor, "use ef21 for a contractive one");
        double const l = of.largest_smoothness(), rho = 1 / (1 + omega / its.workers);
        double const mu = of.known(its.least_strong_convexity, "min mu_i");
        double const step = of.step([&] { return 2 / l; });
        double const chance = p > 0 ? p : std::min(1.0, std::sqrt((1 + 2 * omega) / rho / (2 * l / mu - 1)));
        detail::locodl_steps<T, B> steps({step, chance, mu / 2, rho, chance * rho / (1 + 2 * omega), given.batch});
        return {compressor, {}, gradient_step{rho / 2}, {}, std::move(steps)};
    }

    bool operator==(locodl const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("locodl", "g the result of local steps of two models, C unbiased, alpha 0",
                 "Condat, Maranjyan, Richtarik, ICLR 2025", detail::compressor_field,
                 field("p", &locodl::p).between(0, 1).by_name(), detail::step_field, detail::batch_field);
    }
};
template <class C>
locodl(C, double = 0, overrides = {}) -> locodl<C>;

}  // namespace laconic
