// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "laconic/any/loop.hpp"
#include "laconic/any/recursion.hpp"
#include "laconic/comm/graph.hpp"
#include "laconic/method/dcgd.hpp"
#include "laconic/method/with_step.hpp"

namespace laconic {

namespace detail {
template <class M, class T>
concept ChosenLoopMethod = LoopMethod<M, any_objective<T>, any_communicator, T>;
}

/// A method that is chosen at run time, for vectors of T on the host: it fills in an any_recursion; or, where it is no
/// recursion, makes an any_loop.
template <Scalar T = double>
class any_method {
  public:
    using value_type = T;

    /// Gradient descent.
    any_method() : any_method(gd{}) {}
    template <class M>
    requires(!std::same_as<M, any_method> && (Method<M, T, host> || detail::ChosenLoopMethod<M, T>))
        any_method(M method)  // NOLINT: implicit, like that of std::function
        : held_(new model<M>(std::move(method))) {}

    template <Scalar S, class B>
    requires(std::same_as<S, T>&& std::same_as<B, host>) any_recursion<T> compose(problem const& p)
    const { return held_->compose(p, {}, 0); }
    /// The recursion for f + R, where R has these weights of |x|_1 and of |x|^2 / 2, and with a heavy ball where beta
    /// is above 0. Throws argument_error where the method's step has no form with a proximal operator, or with
    /// momentum.
    any_recursion<T> compose(problem const& p, elastic_net const& prox, double beta = 0) const {
        return held_->compose(p, prox, beta);
    }

    detail::when_absent absence() const { return held_->absence(); }

    /// Whether it makes a loop of its own: then compose() throws argument_error, and only then start() does not.
    /// start() returns that loop, which keeps its own copies of f and of the handle `comm`.
    bool has_loop() const { return held_->has_loop(); }
    any_loop<T> start(problem const& p, any_objective<T> const& f, any_communicator comm, std::span<T> x,
                      std::uint64_t seed) const {
        return held_->start(p, f, comm, x, seed);
    }

    /// The same loop with its sums by this collective, where the method was parsed or its `over` is an any_collective,
    /// as of ds_lsr1<any_collective<>>{}. Throws argument_error where `over` has another type, for a loop that adds
    /// nothing up, and for a recursion, of which compose() gives the transport.
    any_method over(any_collective<T> const& collective) const { return held_->over(collective); }

    friend std::string to_string(any_method const& m) { return m.held_->name(); }

  private:
    struct face : detail::face {
        virtual any_recursion<T> compose(problem const& p, elastic_net const& prox, double beta) const = 0;
        virtual detail::when_absent absence() const = 0;
        virtual bool has_loop() const = 0;
        virtual any_loop<T> start(problem const& p, any_objective<T> const& f, any_communicator comm, std::span<T> x,
                                  std::uint64_t seed) const = 0;
        virtual any_method over(any_collective<T> const& collective) const = 0;
    };
    template <class M>
    struct model final : detail::model<face, detail::held_value<M>> {
        using detail::model<face, detail::held_value<M>>::model;
        using detail::model<face, detail::held_value<M>>::name;

        any_recursion<T> compose(problem const& p, elastic_net const& prox, double beta) const override {
            if constexpr (!Method<M, T, host>) {
                throw argument_error({name(), " is no recursion: it makes its own loop"});
            } else if constexpr (requires(M const& m) { m.compose(p, prox); }) {  // a method around an any_method
                if (beta != 0) throw argument_error({name(), ": the momentum belongs to the method inside"});
                auto const r = this->inside->compose(p, prox);
                if constexpr (std::same_as<std::remove_const_t<decltype(r.level)>, any_level<T, host>>)
                    return r.with_over(any_transport<T>(r.over));
                else
                    return erased<T, host>(r);
            } else {
                auto r = this->inside->template compose<T, host>(p);
                auto result = erased<T, host>(r);
                if (beta == 0) return stepping(r, prox, std::move(result));
                if constexpr (requires { with_momentum<T, host>(r, beta); }) {
                    auto const ball = with_momentum<T, host>(r, beta);
                    result.step = ball.step;
                    return stepping(ball, prox, std::move(result));
                } else {
                    throw argument_error({name(), ": its step has no form with momentum"});
                }
            }
        }
        detail::when_absent absence() const override { return detail::absence_of(*this->inside); }
        bool has_loop() const override { return !Method<M, T, host>; }
        any_loop<T> start(problem const& p, any_objective<T> const& f, any_communicator comm, std::span<T> x,
                          std::uint64_t seed) const override {
            if constexpr (Method<M, T, host>)
                throw argument_error({name(), " is a recursion: descend() and descent run it"});
            else
                return {comm, [&, f](any_communicator& handle) { return this->inside->start(p, f, handle, x, seed); }};
        }
        any_method over(any_collective<T> const& collective) const override {
            if constexpr (Method<M, T, host>) {
                throw argument_error({name(), " is a recursion: its transport is a part of it"});
            } else if constexpr (requires(M m) { m.over = collective; }) {
                auto other = *this->inside;
                other.over = collective;
                return other;
            } else if constexpr (requires { requires !std::same_as<decltype(M::over), graph>; }) {
                throw argument_error({name(),
                                      ": its transport was fixed when it was compiled; parse the method, or give it an "
                                      "any_collective as ds_lsr1<any_collective<>> has"});
            } else {
                throw argument_error(
                    {name(), " has no collective: each of its messages goes from a rank to its neighbours"});
            }
        }

      private:
        // The step of r for f + R, in place of that of `result`.
        any_recursion<T> stepping(auto const& r, elastic_net const& prox, any_recursion<T> result) const {
            if (prox == elastic_net{}) return result;
            if constexpr (requires { with_prox(r, prox); })
                result.step = with_prox(r, prox).step;
            else
                throw argument_error({name(), ": its step has no form with a proximal operator"});
            return result;
        }
    };
    detail::shared<face> held_;
};

}  // namespace laconic
