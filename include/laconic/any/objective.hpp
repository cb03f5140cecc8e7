// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "laconic/any/holder.hpp"
#include "laconic/objective/objective.hpp"

namespace laconic {

namespace detail {

template <class T>
struct objective_face : face {
    virtual std::size_t dimension() const = 0;
    virtual double value(std::span<T const> x) const = 0;
    virtual void gradient(std::span<T const> x, std::span<T> g) const = 0;
    /// One pass where the objective inside is a FusedObjective, two where it is not.
    virtual double value_and_gradient(std::span<T const> x, std::span<T> g) const = 0;

    virtual double smoothness() const = 0;
    virtual double strong_convexity() const = 0;
    virtual double sample_smoothness() const = 0;

    virtual std::size_t samples() const = 0;
    virtual void batch_gradient(std::span<std::uint32_t const> rows, std::span<T const> x, std::span<T> g) const = 0;
    virtual std::size_t outputs() const = 0;
    virtual void slopes(std::size_t j, std::span<T const> x, std::span<double> s) const = 0;
    virtual void add_row(std::size_t j, std::span<double const> s, double w, std::span<T> g) const = 0;
    virtual void add_penalty_gradient(std::span<T const> x, std::span<T> g) const = 0;

    virtual void hessian(std::span<T const> x, hessian_matrix& h) const = 0;
    virtual void hessian_times(std::span<T const> x, std::span<T const> v, std::span<T> out) const = 0;
};

[[noreturn]] inline void lacks(char const* what) { throw argument_error({"this objective ", what}); }
[[noreturn]] inline void lacks_slopes() {
    lacks(
        "is no generalised linear one: SAGA's table needs outputs(), slopes, add_row and add_penalty_gradient; l_svrg "
        "does without");
}

template <class Holder, class T>
class objective_model : public model<objective_face<T>, Holder> {
    using F = held_by<Holder>;
    using x_type = std::span<T const>;
    static constexpr bool smooth = SmoothObjective<F, T>, rows = FiniteSum<F, T>, linear = GeneralisedLinear<F, T>;

  public:
    using model<objective_face<T>, Holder>::model;

    std::size_t dimension() const override { return static_cast<std::size_t>(f().dimension()); }
    double value(x_type x) const override { return static_cast<double>(f().value(x)); }
    void gradient(x_type x, std::span<T> g) const override { f().gradient(x, g); }
    double value_and_gradient(x_type x, std::span<T> g) const override {
        if constexpr (FusedObjective<F, T>) return static_cast<double>(f().value_and_gradient(x, g));
        gradient(x, g);
        return value(x);
    }
    double smoothness() const override {
        if constexpr (smooth) return f().smoothness();
        return 0;
    }
    double strong_convexity() const override {
        if constexpr (smooth) return f().strong_convexity();
        return 0;
    }
    double sample_smoothness() const override {
        if constexpr (SmoothFiniteSum<F, T>) return f().sample_smoothness();
        return 0;
    }
    std::size_t samples() const override {
        if constexpr (rows) return f().samples();
        return 0;
    }
    void batch_gradient(std::span<std::uint32_t const> which, x_type x, std::span<T> g) const override {
        if constexpr (rows) return f().batch_gradient(which, x, g);
        lacks("has no samples to draw from: it needs samples() and batch_gradient(rows, x, g)");
    }
    std::size_t outputs() const override {
        if constexpr (linear) return f().outputs();
        lacks_slopes();
    }
    void slopes(std::size_t j, x_type x, std::span<double> s) const override {
        if constexpr (linear) return f().slopes(j, x, s);
        lacks_slopes();
    }
    void add_row(std::size_t j, std::span<double const> s, double w, std::span<T> g) const override {
        if constexpr (linear) return f().add_row(j, s, w, g);
        lacks_slopes();
    }
    void add_penalty_gradient(x_type x, std::span<T> g) const override {
        if constexpr (linear) return f().add_penalty_gradient(x, g);
        lacks_slopes();
    }
    void hessian(x_type x, hessian_matrix& h) const override {
        if constexpr (requires { f().hessian(x, h); }) return f().hessian(x, h);
        lacks("has no second derivatives: it needs hessian(x, H)");
    }
    void hessian_times(x_type x, x_type v, std::span<T> out) const override {
        if constexpr (requires { f().hessian_times(x, v, out); }) return f().hessian_times(x, v, out);
        lacks("has no second derivatives: it needs hessian_times(x, v, out)");
    }

  private:
    F const& f() const { return *this->inside; }
};

}  // namespace detail

/// An objective that is chosen at run time, with all members that any objective has (detail::objective_face). Functions
/// that the one inside does not have throw argument_error; constants that it does not have are 0. Copies share it, and
/// a loop keeps one.
template <Scalar T = double>
class any_objective final : public detail::objective_model<detail::shared<detail::objective_face<T>>, T> {
  public:
    static constexpr bool is_handle = true;

    template <class F>
    requires(!std::same_as<F, any_objective> && Objective<F, T>)
        any_objective(F f)  // NOLINT: implicit, like that of std::function
        : any_objective::objective_model(detail::modelled<detail::objective_model, T>(std::move(f))) {}
};

}  // namespace laconic
