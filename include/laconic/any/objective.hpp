// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"
#include "laconic/objective/finite_sum.hpp"

// As Eigen declares it, so that only those who use Hessians read Eigen.
namespace Eigen {
template <class, int, int, int, int, int>
class Matrix;
}

namespace laconic {

/// An objective that is chosen at run time. Functions that the one inside does not have throw argument_error; constants
/// that it does not have are 0. Copies share it, and a loop keeps one.
template <Scalar T = double>
class any_objective {
  public:
    static constexpr bool is_handle = true;

    template <class F>
    requires(!std::same_as<F, any_objective> && Objective<F, T>)
        any_objective(F f)  // NOLINT: implicit, like that of std::function
        : held_(std::make_shared<model<F> const>(std::move(f))) {}

    std::size_t dimension() const { return held_->dimension(); }
    double value(std::span<T const> x) const { return held_->value(x); }
    void gradient(std::span<T const> x, std::span<T> g) const { held_->gradient(x, g); }
    /// One pass where the objective inside is a FusedObjective, two where it is not.
    double value_and_gradient(std::span<T const> x, std::span<T> g) const { return held_->value_and_gradient(x, g); }

    double smoothness() const { return held_->smoothness(); }
    double strong_convexity() const { return held_->strong_convexity(); }
    double sample_smoothness() const { return held_->sample_smoothness(); }

    std::size_t samples() const { return held_->samples(); }
    void batch_gradient(std::span<std::uint32_t const> rows, std::span<T const> x, std::span<T> g) const {
        held_->batch_gradient(rows, x, g);
    }
    std::size_t outputs() const { return held_->outputs(); }
    void slopes(std::size_t j, std::span<T const> x, std::span<double> s) const { held_->slopes(j, x, s); }
    void add_row(std::size_t j, std::span<double const> s, double w, std::span<T> g) const {
        held_->add_row(j, s, w, g);
    }
    void add_penalty_gradient(std::span<T const> x, std::span<T> g) const { held_->add_penalty_gradient(x, g); }

    /// The Hessian, as an Eigen::MatrixXd, and its products with vectors.
    using matrix = Eigen::Matrix<double, -1, -1, 0, -1, -1>;
    void hessian(std::span<T const> x, matrix& h) const { held_->hessian(x, h); }
    void hessian_times(std::span<T const> x, std::span<T const> v, std::span<T> out) const {
        held_->hessian_times(x, v, out);
    }

  private:
    struct face {
        virtual ~face() = default;
        virtual std::size_t dimension() const = 0;
        virtual double value(std::span<T const> x) const = 0;
        virtual void gradient(std::span<T const> x, std::span<T> g) const = 0;
        virtual double value_and_gradient(std::span<T const> x, std::span<T> g) const = 0;
        virtual double smoothness() const = 0;
        virtual double strong_convexity() const = 0;
        virtual double sample_smoothness() const = 0;
        virtual std::size_t samples() const = 0;
        virtual void batch_gradient(std::span<std::uint32_t const>, std::span<T const>, std::span<T>) const = 0;
        virtual std::size_t outputs() const = 0;
        virtual void slopes(std::size_t, std::span<T const>, std::span<double>) const = 0;
        virtual void add_row(std::size_t, std::span<double const>, double, std::span<T>) const = 0;
        virtual void add_penalty_gradient(std::span<T const>, std::span<T>) const = 0;
        virtual void hessian(std::span<T const>, matrix&) const = 0;
        virtual void hessian_times(std::span<T const>, std::span<T const>, std::span<T>) const = 0;
    };
    template <class F>
    struct model final : face {
        static constexpr bool has_rows = FiniteSum<F, T>, has_slopes = GeneralisedLinear<F, T>;
        F inside;

        explicit model(F f) : inside(std::move(f)) {}
        [[noreturn]] static void no_rows() {
            throw argument_error(
                "this objective has no samples to draw from: it needs samples() and "
                "batch_gradient(rows, x, g)");
        }
        [[noreturn]] static void no_slopes() {
            throw argument_error(
                "this objective is no generalised linear one: SAGA's table needs outputs(), slopes, "
                "add_row and add_penalty_gradient; l_svrg does without");
        }
        [[noreturn]] static void no_hessian(char const* member) {
            throw argument_error(detail::concat({"this objective has no second derivatives: it needs ", member}));
        }

        std::size_t dimension() const override { return static_cast<std::size_t>(inside.dimension()); }
        double value(std::span<T const> x) const override { return static_cast<double>(inside.value(x)); }
        void gradient(std::span<T const> x, std::span<T> g) const override { inside.gradient(x, g); }
        double value_and_gradient(std::span<T const> x, std::span<T> g) const override {
            if constexpr (FusedObjective<F, T>) {
                return static_cast<double>(inside.value_and_gradient(x, g));
            } else {
                inside.gradient(x, g);
                return static_cast<double>(inside.value(x));
            }
        }
        double smoothness() const override {
            if constexpr (SmoothObjective<F, T>)
                return inside.smoothness();
            else
                return 0;
        }
        double strong_convexity() const override {
            if constexpr (SmoothObjective<F, T>)
                return inside.strong_convexity();
            else
                return 0;
        }
        double sample_smoothness() const override {
            if constexpr (SmoothFiniteSum<F, T>)
                return inside.sample_smoothness();
            else
                return 0;
        }
        std::size_t samples() const override {
            if constexpr (has_rows)
                return inside.samples();
            else
                return 0;
        }
        void batch_gradient(std::span<std::uint32_t const> rows, std::span<T const> x, std::span<T> g) const override {
            if constexpr (has_rows)
                inside.batch_gradient(rows, x, g);
            else
                no_rows();
        }
        std::size_t outputs() const override {
            if constexpr (has_slopes)
                return inside.outputs();
            else
                no_slopes();
        }
        void slopes(std::size_t j, std::span<T const> x, std::span<double> s) const override {
            if constexpr (has_slopes)
                inside.slopes(j, x, s);
            else
                no_slopes();
        }
        void add_row(std::size_t j, std::span<double const> s, double w, std::span<T> g) const override {
            if constexpr (has_slopes)
                inside.add_row(j, s, w, g);
            else
                no_slopes();
        }
        void add_penalty_gradient(std::span<T const> x, std::span<T> g) const override {
            if constexpr (has_slopes)
                inside.add_penalty_gradient(x, g);
            else
                no_slopes();
        }
        void hessian(std::span<T const> x, matrix& h) const override {
            if constexpr (requires { inside.hessian(x, h); })
                inside.hessian(x, h);
            else
                no_hessian("hessian(x, H)");
        }
        void hessian_times(std::span<T const> x, std::span<T const> v, std::span<T> out) const override {
            if constexpr (requires { inside.hessian_times(x, v, out); })
                inside.hessian_times(x, v, out);
            else
                no_hessian("hessian_times(x, v, out)");
        }
    };
    std::shared_ptr<face const> held_;
};

}  // namespace laconic
