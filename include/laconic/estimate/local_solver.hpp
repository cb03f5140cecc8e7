// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>

#include "laconic/core/description.hpp"
#include "laconic/core/types.hpp"
#include "laconic/estimate/estimator.hpp"
#include "laconic/optim/adam.hpp"

/// What a rank computes in place of a gradient where a method asks for the minimum of
///     f(y) + v . y + (c / 2) |y|^2,      v a vector and c >= 0 a weight that the method gives,
/// f being this rank's own objective: for instance the subproblems of ADMM.
namespace laconic {

/// Satisfied iff S is a comparable value, to_string(s) names it, and s.make<T>(d) makes a solver for d numbers, with
///   solve(on, f, c, v, now, y)   moves y, from which it starts, to the minimum, or towards it. It never hides a number
///                                that is not finite: y then has one, at the place of the first one in the gradient;
///   commit()                     keeps what the last solve() has changed, once the round is over on all ranks: before,
///                                the next solve() goes on from the state before the last;
///   state(archive)               passes on what it remembers (wire/state.hpp).
template <class S, class F, class T = double>
concept LocalSolver = std::semiregular<S> && std::equality_comparable<S> &&
    requires(S const& s, host& on, F const& f, double c, std::span<T const> v, round_context const& now, std::span<T> y,
             std::size_t d) {
    { to_string(s) } -> std::same_as<std::string>;
    s.template make<T>(d).solve(on, f, c, v, now, y);
    s.template make<T>(d).commit();
};

namespace detail {

// g <- the gradient of f(y) + v . y + (c / 2) |y|^2, where g is that of f.
template <Scalar T>
void add_proximal_terms(host& on, double c, std::span<T const> v, std::span<T const> y, std::span<T> g) {
    add_scaled(on, T(1), v, g);
    add_scaled(on, static_cast<T>(c), y, g);
}

template <Scalar T>
class newton_solver {
    using matrix = detail::dependent<Eigen::MatrixXd, T>;
    using vector = detail::dependent<Eigen::VectorXd, T>;

  public:
    newton_solver(std::size_t d, int most) : most_(most), slope_(index(d)), step_(index(d)), g_(d), trial_(d) {}

    template <class F>
    void solve(host& on, F const& f, double c, std::span<T const> v, round_context const&, std::span<T> y) {
        static_assert(
            requires(std::span<T const> x, matrix & h) { f.hessian(x, h); },
            "the minimum of a local objective needs void hessian(x, Eigen::MatrixXd&) const; let adam_steps come near "
            "it where there is none");
        constexpr bool quadratic = requires { requires F::constant_hessian; };
        constexpr bool floats = std::is_same_v<T, float>;
        double const good_enough = floats ? 1e-6 : 1e-13, rounding = floats ? 1e-5 : 1e-12;
        double value = look(on, f, c, v, std::span<T const>(y));
        if (auto const j = first_non_finite(on, std::span<T const>(g_)); j < y.size()) {
            y[j] = g_[j];
            return;
        }
        if (!std::isfinite(quadratic ? own_value_ : value))
            throw error("the value of the local objective is not finite");
        double steepness = slope_.stableNorm(), size = length_of(on, std::span<T const>(y));
        for (int i = 0; i < most_; ++i) {
            step_ = factors<quadratic>(f, c, std::span<T const>(y)).solve(slope_);
            // Values are off by their terms' rounding, however near to 0 they are.
            double const fall = slope_.dot(step_), noise = rounding * terms_;
            if (quadratic) return move(std::span<T const>(y), 1, y);
            for (double length = 1;; length /= 2) {
                move(std::span<T const>(y), length, std::span<T>(trial_));
                double const next = look(on, f, c, v, std::span<T const>(trial_)), next_steepness = slope_.stableNorm();
                // Near the minimum values differ by rounding only; then the gradient decides.
                bool const lower = length * fall > noise && next <= value - 1e-4 * length * fall;
                if (lower || (next <= value + noise && next_steepness <= steepness / 2)) {
                    value = next, steepness = next_steepness;
                    break;
                }
                if (fall <= noise) return;  // rounding is all that is left
                if (length < 1e-10 && !std::isfinite(next))
                    throw error("the value of the local objective is not finite beside a point where it is");
                if (length < 1e-10) return;
            }
            copy(on, std::span<T const>(trial_), y);
            size = std::max(size, length_of(on, std::span<T const>(y)));
            if (step_.stableNorm() <= good_enough * size) return;
        }
        throw error({"no minimum of the local objective in ", most_, " Newton steps"});
    }
    void commit() {}
    void state(auto&) {}

  private:
    static Eigen::Index index(std::size_t j) { return static_cast<Eigen::Index>(j); }
    static double length_of(host& on, std::span<T const> y) { return double(kernels::norm_of(on, p_norm::two, y)); }
    void move(std::span<T const> from, double length, std::span<T> to) const {
        for (std::size_t j = 0; j < to.size(); ++j)
            to[j] = static_cast<T>(static_cast<double>(from[j]) - length * step_[index(j)]);
    }
    // The value at y; its gradient comes to be in g_ and slope_, and in terms_ what magnitudes the value is the sum of.
    double look(host& on, auto const& f, double c, std::span<T const> v, std::span<T const> y) {
        double value = static_cast<double>(evaluate(f, y, std::span<T>(g_)));
        own_value_ = value;
        terms_ = std::abs(value);
        add_proximal_terms(on, c, v, y, std::span<T>(g_));
        for (std::size_t j = 0; j < y.size(); ++j) {
            double const at = static_cast<double>(y[j]), linear = static_cast<double>(v[j]);
            value += (linear + c / 2 * at) * at;
            terms_ += (std::abs(linear) + c / 2 * std::abs(at)) * std::abs(at);
            slope_[index(j)] = static_cast<double>(g_[j]);
        }
        return value;
    }
    // Of (Hessian at y) + c I. Those of constant Hessians are kept for the last two weights.
    template <bool Quadratic, class F>
    auto const& factors(F const& f, double c, std::span<T const> y) {
        if (Quadratic)
            for (auto const& kept : kept_)
                if (kept.weight == c) return kept.factors;
        auto& next = kept_[next_];
        next_ = (next_ + 1) % kept_.size();
        next.weight = std::numeric_limits<double>::quiet_NaN();
        f.hessian(y, h_);
        if (!h_.allFinite()) throw error("the Hessian of the local objective is not finite");
        h_.diagonal().array() += c;
        next.factors.compute(h_);
        if (next.factors.info() != Eigen::ComputationInfo{})  // Success, a word that X11's headers define
            throw error("the local objective is not strictly convex: its Hessian has no Cholesky factors");
        next.weight = c;
        return next.factors;
    }

    struct factored {
        double weight = std::numeric_limits<double>::quiet_NaN();
        Eigen::LLT<matrix> factors{};
    };
    int most_;
    double own_value_ = 0, terms_ = 0;
    vector slope_, step_;
    matrix h_;
    typename host::array<T> g_, trial_;
    std::array<factored, 2> kept_;
    std::size_t next_ = 0;
};

template <Scalar T>
class adam_solver {
  public:
    adam_solver(std::size_t d, std::uint64_t count, double rate, std::size_t batch)
        : count_(count), batch_(batch), step_(rate), trial_(rate), gradient_(d) {}

    void solve(host& on, auto const& f, double c, std::span<T const> v, round_context const& now, std::span<T> y) {
        trial_ = step_;
        std::span<T> const g(gradient_);
        for (std::uint64_t l = 0; l < count_; ++l) {
            batch_(on, f, now, std::span<T const>(y), g);
            if (auto const j = first_non_finite(on, std::span<T const>(g)); j < g.size()) {
                y[j] = g[j];
                return;
            }
            add_proximal_terms(on, c, v, std::span<T const>(y), g);
            trial_(on, y, g);
        }
    }
    void commit() { step_ = trial_; }
    void state(auto& archive) { archive(step_); }

  private:
    std::uint64_t count_;
    mini_batch batch_;
    adam<T> step_, trial_;
    typename host::array<T> gradient_;
};

}  // namespace detail

/// The minimum, by Newton's method from y on, for objectives with a Hessian: one step where it is constant (ridge),
/// with Cholesky factors that are kept for the last two weights c; else damped, until a step is at most 1e-13 of the
/// longest y so far (1e-6 in float) or rounding is all that is left of the value and of the gradient. Throws error
/// where `most` steps are not enough, where the value is not finite, and where the Hessian and c I have no Cholesky
/// factors. Costs a gradient and d^2 operations a step, and a Hessian and d^3 / 3 for new factors.
struct exact_minimum {
    int most = 100;

    template <Scalar T>
    auto make(std::size_t d) const {
        return detail::newton_solver<T>(d, most);
    }
    bool operator==(exact_minimum const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("exact_minimum", "the minimum of the local objective, by Newton's method", "",
                 field("most", &exact_minimum::most).between(1, 1e6));
    }
};

/// A fixed number of steps of Adam towards the minimum, for objectives without a Hessian, and for those that are not
/// convex; all steps of one solve take the gradient of the same `batch` rows, or of all where it is 0. The moments of
/// Adam are kept from round to round.
struct adam_steps {
    std::uint64_t count = 10;
    double rate = 1e-3;
    std::size_t batch = 0;

    template <Scalar T>
    auto make(std::size_t d) const {
        return detail::adam_solver<T>(d, count, rate, batch);
    }
    bool operator==(adam_steps const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("adam_steps", "steps of Adam towards the minimum of the local objective", "Kingma, Ba, ICLR 2015",
                 field("count", &adam_steps::count).between(1, 1e9).written(),
                 field("rate", &adam_steps::rate).by_name(),
                 field("batch", &adam_steps::batch).between(0, 1e9).by_name());
    }
};

}  // namespace laconic
