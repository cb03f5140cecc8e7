// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "laconic/any/compressor.hpp"
#include "laconic/any/objective.hpp"
#include "laconic/any/part.hpp"
#include "laconic/any/transport.hpp"
#include "laconic/collective/terms/sparse_sum.hpp"
#include "laconic/recursion.hpp"

/// Recursions that are chosen at run time: each part behind a face, so that all methods are one type, and one loop is
/// compiled for all. They cost some virtual calls a round; the bytes and the iterates are the same.
namespace laconic {

template <Scalar T = double, class B = host>
class any_feedback {
    using leftover_message = typename sparse_sum<T, B>::message_type;
    using array = typename B::template array<T>;
    struct face : detail::part_face<face> {
        virtual void start(std::size_t d) = 0;
        virtual void compensate(B& on, round_context const& now, std::span<T> g) = 0;
        virtual bool make_delta(B& on, round_context const& now, T scale, std::span<T> g) = 0;
        virtual void update(B& on, std::span<T const> delta, any_message<T, B> const& m) = 0;
        virtual void update(B& on, array&& delta, any_message<T, B> const& m) = 0;
        virtual void reconstruct(B& on, round_context const& now, std::span<T> mean) = 0;
        virtual void preview(B& on, round_context const& now, std::span<T> mean) const = 0;
        virtual bool keeps_leftover() const = 0;
        virtual void keep(B& on, leftover_message const& m) = 0;
    };
    template <class F>
    struct model final : detail::part_model<model<F>, face, F> {
        using detail::part_model<model<F>, face, F>::part_model;
        void start(std::size_t d) override { this->inside.start(d); }
        void compensate(B& on, round_context const& now, std::span<T> g) override {
            this->inside.compensate(on, now, g);
        }
        bool make_delta(B& on, round_context const& now, T scale, std::span<T> g) override {
            return detail::make_delta(this->inside, on, now, scale, g);
        }
        void update(B& on, std::span<T const> delta, any_message<T, B> const& m) override {
            this->inside.update(on, delta, m);
        }
        void update(B& on, array&& delta, any_message<T, B> const& m) override {
            this->inside.update(on, std::move(delta), m);
        }
        void reconstruct(B& on, round_context const& now, std::span<T> mean) override {
            this->inside.reconstruct(on, now, mean);
        }
        void preview(B& on, round_context const& now, std::span<T> mean) const override {
            detail::preview_estimate(this->inside, on, now, mean);
        }
        bool keeps_leftover() const override {
            if constexpr (KeepsLeftover<F>)
                return this->inside.keeps_leftover();
            else
                return false;
        }
        void keep(B& on, leftover_message const& m) override {
            if constexpr (KeepsLeftover<F>) this->inside.keep(on, m);
        }
    };
    detail::held_part<face> held_;

  public:
    any_feedback() : any_feedback(memory<T, B>{}) {}
    template <class F>
    requires(!std::same_as<F, any_feedback> && Feedback<F, T, B, any_message<T, B>>)
        any_feedback(F feedback)  // NOLINT: implicit, like that of std::function
        : held_(std::make_unique<model<F>>(std::move(feedback))) {}

    void start(std::size_t d) { held_->start(d); }
    void compensate(B& on, round_context const& now, std::span<T> g) { held_->compensate(on, now, g); }
    bool make_delta(B& on, round_context const& now, T scale, std::span<T> g) {
        return held_->make_delta(on, now, scale, g);
    }
    void update(B& on, std::span<T const> delta, any_message<T, B> const& m) { held_->update(on, delta, m); }
    void update(B& on, array&& delta, any_message<T, B> const& m) { held_->update(on, std::move(delta), m); }
    void reconstruct(B& on, round_context const& now, std::span<T> mean) { held_->reconstruct(on, now, mean); }
    void preview(B& on, round_context const& now, std::span<T> mean) const { held_->preview(on, now, mean); }
    bool keeps_leftover() const { return held_->keeps_leftover(); }
    void keep(B& on, leftover_message const& m) { held_->keep(on, m); }
    template <class Archive>
    void state(Archive& archive) {
        held_->state(archive);
    }
    friend std::string to_string(any_feedback const& f) { return f.held_->name(); }
};

/// Any step; a step without a step size has rate() 0.
template <Scalar T = double, class B = host>
class any_step {
    struct face : detail::part_face<face> {
        virtual void move(B& on, std::span<T> x, std::span<T> d) = 0;
        virtual double rate() const = 0;
    };
    template <class S>
    struct model final : detail::part_model<model<S>, face, S> {
        using detail::part_model<model<S>, face, S>::part_model;
        void move(B& on, std::span<T> x, std::span<T> d) override { this->inside(on, x, d); }
        double rate() const override {
            if constexpr (HasRate<S>)
                return this->inside.rate;
            else if constexpr (HasRateFunction<S>)
                return this->inside.rate();
            else
                return 0;
        }
    };
    detail::held_part<face> held_;

  public:
    any_step() : any_step(gradient_step{}) {}
    template <class S>
    requires(!std::same_as<S, any_step> && Step<S, T, B>) any_step(S step)  // NOLINT: implicit, as std::function
        : held_(std::make_unique<model<S>>(std::move(step))) {}

    void operator()(B& on, std::span<T> x, std::span<T> d) { held_->move(on, x, d); }
    /// The step size where the step has one; else 0.
    double rate() const { return held_->rate(); }
    template <class Archive>
    void state(Archive& archive) {
        held_->state(archive);
    }
    friend std::string to_string(any_step const& s) { return s.held_->name(); }
};

/// Tunes a compressor of a type that it was made for, inside an any_compressor.
template <Scalar T = double, class B = host>
class any_level {
    struct face : detail::part_face<face> {
        virtual void tune(B& on, any_compressor<T, B>& c, round_context const& now, std::span<T const> x,
                          std::span<T const> delta) = 0;
        virtual void update(B& on, std::span<T const> x, any_message<T, B> const& m) = 0;
    };
    template <class L, class C>
    struct model final : detail::part_model<model<L, C>, face, L> {
        using detail::part_model<model<L, C>, face, L>::part_model;
        void tune(B& on, any_compressor<T, B>& c, round_context const& now, std::span<T const> x,
                  std::span<T const> delta) override {
            if constexpr (std::same_as<C, any_compressor<T, B>>)
                this->inside.tune(on, c, now, x, delta);
            else if constexpr (!std::same_as<L, fixed_level>)
                this->inside.tune(on, c.template own<C>(), now, x, delta);
        }
        void update(B& on, std::span<T const> x, any_message<T, B> const& m) override {
            if constexpr (std::same_as<C, any_compressor<T, B>>)
                this->inside.update(on, x, m);
            else if constexpr (!std::same_as<L, fixed_level>)
                this->inside.update(on, x, m.template get<message_of<C, T, B>>());
        }
    };
    detail::held_part<face> held_;

  public:
    any_level() : any_level(fixed_level{}, identity{}) {}
    /// A level for compressors of type C.
    template <class L, class C>
    any_level(L level, C const&) : held_(std::make_unique<model<L, C>>(std::move(level))) {}

    void tune(B& on, any_compressor<T, B>& c, round_context const& now, std::span<T const> x,
              std::span<T const> delta) {
        held_->tune(on, c, now, x, delta);
    }
    void update(B& on, std::span<T const> x, any_message<T, B> const& m) { held_->update(on, x, m); }
    template <class Archive>
    void state(Archive& archive) {
        held_->state(archive);
    }
    friend std::string to_string(any_level const& l) { return l.held_->name(); }
};

/// Estimates gradients of an any_objective.
template <Scalar T = double, class B = host>
class any_estimator {
    using objective = any_objective<T>;
    struct face : detail::part_face<face> {
        virtual std::optional<double> gradient(B& on, objective const& f, round_context const& now,
                                               std::span<T const> x, std::span<T> g) = 0;
        virtual void update(B& on, std::span<T const> x) = 0;
    };
    template <class E>
    struct model final : detail::part_model<model<E>, face, E> {
        using detail::part_model<model<E>, face, E>::part_model;
        std::optional<double> gradient(B& on, objective const& f, round_context const& now, std::span<T const> x,
                                       std::span<T> g) override {
            return this->inside(on, f, now, x, g);
        }
        void update(B& on, std::span<T const> x) override { this->inside.update(on, x); }
    };
    detail::held_part<face> held_;

  public:
    any_estimator() : any_estimator(full_gradient{}) {}
    template <class E>
    requires(!std::same_as<E, any_estimator> && Estimator<E, any_objective<T>, T, B>)
        any_estimator(E estimator)  // NOLINT: implicit, like that of std::function
        : held_(std::make_unique<model<E>>(std::move(estimator))) {}

    std::optional<double> operator()(B& on, objective const& f, round_context const& now, std::span<T const> x,
                                     std::span<T> g) {
        return held_->gradient(on, f, now, x, g);
    }
    void update(B& on, std::span<T const> x) { held_->update(on, x); }
    template <class Archive>
    void state(Archive& archive) {
        held_->state(archive);
    }
    friend std::string to_string(any_estimator const& e) { return e.held_->name(); }
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
            std::move(r.transport),
            r.scale};
}

}  // namespace laconic
