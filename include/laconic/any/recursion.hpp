// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "laconic/any/objective.hpp"
#include "laconic/any/transport.hpp"
#include "laconic/recursion.hpp"

/// Recursions that are chosen at run time: each part behind a face, so that all methods are one type, and one loop is
/// compiled for all. They cost some virtual calls a round; the bytes and the iterates are the same.
namespace laconic {

namespace detail {

template <class T, class B>
struct feedback_face : face_with_state {
    using array = typename B::template array<T>;

    virtual void start(std::size_t d) = 0;
    virtual void compensate(B& on, round_context const& now, std::span<T> g) = 0;
    virtual bool make_delta(B& on, round_context const& now, T scale, std::span<T> g) = 0;
    virtual void update(B& on, std::span<T const> delta, any_message<T, B> const& m) = 0;
    virtual void update(B& on, array&& delta, any_message<T, B> const& m) = 0;
    virtual void reconstruct(B& on, round_context const& now, std::span<T> mean) = 0;
    virtual void preview(B& on, round_context const& now, std::span<T> mean) const = 0;
    virtual void follow(B& on, std::span<T const> estimate) = 0;
    virtual bool follows_estimate() const = 0;
    virtual bool keeps_leftover() const = 0;
    virtual double rate() const = 0;
    virtual std::span<T> residual_for_leftover() = 0;
};
template <class Holder, class T, class B>
struct feedback_model : model<feedback_face<T, B>, Holder> {
    using typename feedback_face<T, B>::array;
    static constexpr bool keeps = KeepsLeftover<held_by<Holder>>;

    using model<feedback_face<T, B>, Holder>::model;
    void start(std::size_t d) override { this->inside->start(d); }
    void compensate(B& on, round_context const& now, std::span<T> g) override { this->inside->compensate(on, now, g); }
    bool make_delta(B& on, round_context const& now, T scale, std::span<T> g) override {
        return detail::make_delta(*this->inside, on, now, scale, g);
    }
    void update(B& on, std::span<T const> delta, any_message<T, B> const& m) override {
        this->inside->update(on, delta, m);
    }
    void update(B& on, array&& delta, any_message<T, B> const& m) override {
        this->inside->update(on, std::move(delta), m);
    }
    void reconstruct(B& on, round_context const& now, std::span<T> mean) override {
        this->inside->reconstruct(on, now, mean);
    }
    void preview(B& on, round_context const& now, std::span<T> mean) const override {
        preview_estimate(*this->inside, on, now, mean);
    }
    void follow(B& on, std::span<T const> estimate) override { show_estimate(*this->inside, on, estimate); }
    bool follows_estimate() const override { return detail::follows_estimate<T, B>(*this->inside); }
    bool keeps_leftover() const override {
        if constexpr (keeps) return this->inside->keeps_leftover();
        return false;
    }
    double rate() const override {
        if constexpr (requires { this->inside->rate(); }) return this->inside->rate();
        return std::numeric_limits<double>::quiet_NaN();  // it has no alpha
    }
    std::span<T> residual_for_leftover() override {
        if constexpr (keeps) return this->inside->residual_for_leftover();
        return {};
    }
};

template <class T, class B>
struct step_face : face_with_state {
    virtual void operator()(B& on, std::span<T> x, std::span<T> d) = 0;
    /// The step size where the step has one; else 0.
    virtual double rate() const = 0;
};
template <class Holder, class T, class B>
struct step_model : model<step_face<T, B>, Holder> {
    using model<step_face<T, B>, Holder>::model;
    void operator()(B& on, std::span<T> x, std::span<T> d) override { (*this->inside)(on, x, d); }
    double rate() const override {
        if constexpr (HasRate<held_by<Holder>>) return this->inside->rate;
        if constexpr (HasRateFunction<held_by<Holder>>) return this->inside->rate();
        return 0;
    }
};

template <class T, class B>
struct level_face : face_with_state {
    virtual void tune(B& on, any_compressor<T, B>& c, round_context const& now, std::span<T const> x,
                      std::span<T const> delta) = 0;
    virtual void update(B& on, std::span<T const> x, any_message<T, B> const& m) = 0;
};
// Of a level for compressors of type C.
template <class Holder, class C, class T, class B>
struct level_model : model<level_face<T, B>, Holder> {
    static constexpr bool is_fixed = std::same_as<held_by<Holder>, fixed_level>;

    using model<level_face<T, B>, Holder>::model;
    void tune(B& on, any_compressor<T, B>& c, round_context const& now, std::span<T const> x,
              std::span<T const> delta) override {
        if constexpr (std::same_as<C, any_compressor<T, B>>)
            this->inside->tune(on, c, now, x, delta);
        else if constexpr (!is_fixed)
            this->inside->tune(on, c.template own<C>(), now, x, delta);
    }
    void update(B& on, std::span<T const> x, any_message<T, B> const& m) override {
        if constexpr (std::same_as<C, any_compressor<T, B>>)
            this->inside->update(on, x, m);
        else if constexpr (!is_fixed)
            this->inside->update(on, x, m.template get<message_of<C, T, B>>());
    }
};

template <class T, class B>
struct estimator_face : face_with_state {
    virtual std::optional<double> operator()(B& on, any_objective<T> const& f, round_context const& now,
                                             std::span<T const> x, std::span<T> g) = 0;
    virtual void before_step(B& on, std::span<T> x, any_message<T, B> const& m) = 0;
    virtual void update(B& on, std::span<T const> x) = 0;
    virtual bool corrects_local_steps() const = 0;
};
template <class Holder, class T, class B>
struct estimator_model : model<estimator_face<T, B>, Holder> {
    using model<estimator_face<T, B>, Holder>::model;
    std::optional<double> operator()(B& on, any_objective<T> const& f, round_context const& now, std::span<T const> x,
                                     std::span<T> g) override {
        return (*this->inside)(on, f, now, x, g);
    }
    void before_step(B& on, std::span<T> x, any_message<T, B> const& m) override {
        detail::before_step(*this->inside, on, x, m);
    }
    void update(B& on, std::span<T const> x) override { this->inside->update(on, x); }
    bool corrects_local_steps() const override { return detail::corrects_local_steps(*this->inside); }
};

}  // namespace detail

template <Scalar T = double, class B = host>
class any_feedback final : public detail::feedback_model<detail::copied<detail::feedback_face<T, B>>, T, B> {
  public:
    any_feedback() : any_feedback(memory<T, B>{}) {}
    template <class F>
    requires(!std::same_as<F, any_feedback> && Feedback<F, T, B, any_message<T, B>>)
        any_feedback(F feedback)  // NOLINT: implicit, like that of std::function
        : any_feedback::feedback_model(detail::modelled<detail::feedback_model, T, B>(std::move(feedback))) {}
};

/// Any step; a step without a step size has rate() 0.
template <Scalar T = double, class B = host>
class any_step final : public detail::step_model<detail::copied<detail::step_face<T, B>>, T, B> {
  public:
    any_step() : any_step(gradient_step{}) {}
    template <class S>
    requires(!std::same_as<S, any_step> && Step<S, T, B>) any_step(S step)  // NOLINT: implicit, as std::function
        : any_step::step_model(detail::modelled<detail::step_model, T, B>(std::move(step))) {}
};

/// Tunes a compressor of a type that it was made for, inside an any_compressor.
template <Scalar T = double, class B = host>
class any_level final
    : public detail::level_model<detail::copied<detail::level_face<T, B>>, any_compressor<T, B>, T, B> {
  public:
    any_level() : any_level(fixed_level{}, identity{}) {}
    /// A level for compressors of type C.
    template <class L, class C>
    any_level(L level, C const&)
        : any_level::level_model(detail::modelled<detail::level_model, C, T, B>(std::move(level))) {}
};

/// Estimates gradients of an any_objective.
template <Scalar T = double, class B = host>
class any_estimator final : public detail::estimator_model<detail::copied<detail::estimator_face<T, B>>, T, B> {
  public:
    any_estimator() : any_estimator(mini_batch{}) {}
    template <class E>
    requires(!std::same_as<E, any_estimator> && Estimator<E, any_objective<T>, T, B>)
        any_estimator(E estimator)  // NOLINT: implicit, like that of std::function
        : any_estimator::estimator_model(detail::modelled<detail::estimator_model, T, B>(std::move(estimator))) {}
};

/// Every method as one type; it minimises an any_objective<T>.
template <Scalar T = double, class B = host>
using any_recursion = recursion<any_compressor<T, B>, any_feedback<T, B>, any_step<T, B>, any_level<T, B>,
                                any_estimator<T, B>, any_transport<T, B>>;

/// The same recursion, with each part behind a face.
template <Scalar T, class B, class C, class F, class S, class L, class E, class X>
any_recursion<T, B> erased(recursion<C, F, S, L, E, X> r) {
    any_level<T, B> level(std::move(r.level), r.compressor);
    return {std::move(r.compressor),
            std::move(r.feedback),
            std::move(r.step),
            std::move(level),
            std::move(r.estimator),
            std::move(r.over),
            r.scale};
}

}  // namespace laconic
