// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <utility>

#include "laconic/any/recursion.hpp"
#include "laconic/any/transport.hpp"
#include "laconic/core/text.hpp"
#include "laconic/method/gd.hpp"
#include "laconic/method/with_momentum.hpp"
#include "laconic/method/with_prox.hpp"
#include "laconic/optim/prox.hpp"

namespace laconic {

/// A method that is chosen at run time: it fills in an any_recursion, for vectors of T on the host.
template <Scalar T = double>
class any_method {
  public:
    using value_type = T;

    /// Gradient descent.
    any_method() : any_method(gd{}) {}
    template <class M>
    requires(!std::same_as<M, any_method> && Method<M, T, host>)
        any_method(M method)  // NOLINT: implicit, like that of std::function
        : held_(std::make_shared<model<M> const>(std::move(method))) {}

    template <Scalar S, class B>
    requires(std::same_as<S, T>&& std::same_as<B, host>) any_recursion<T> compose(problem const& p)
    const { return held_->compose(p, {}, 0); }
    /// The recursion for f + R, where R has these weights of |x|_1 and of |x|^2 / 2, and with a heavy ball where beta
    /// is above 0. Throws argument_error where the method's step has no form with a proximal operator, or with
    /// momentum.
    any_recursion<T> compose(problem const& p, elastic_net const& prox, double beta = 0) const {
        return held_->compose(p, prox, beta);
    }

    friend std::string to_string(any_method const& m) { return m.held_->name(); }

  private:
    struct face {
        virtual ~face() = default;
        virtual any_recursion<T> compose(problem const& p, elastic_net const& prox, double beta) const = 0;
        virtual std::string name() const = 0;
    };
    template <class M>
    struct model final : face {
        M inside;
        explicit model(M m) : inside(std::move(m)) {}

        any_recursion<T> compose(problem const& p, elastic_net const& prox, double beta) const override {
            if constexpr (requires { inside.compose(p, prox); }) {  // a method around an any_method
                if (beta != 0)
                    throw argument_error(detail::concat({name(), ": the momentum belongs to the method inside"}));
                auto const r = inside.compose(p, prox);
                return r.with_transport(any_transport<T>(r.transport));
            } else {
                auto r = inside.template compose<T, host>(p);
                auto result = erased<T, host>(r);
                if (beta == 0) return stepping(r, prox, std::move(result));
                if constexpr (requires { with_momentum<T, host>(r, beta); }) {
                    auto const ball = with_momentum<T, host>(r, beta);
                    result.step = ball.step;
                    return stepping(ball, prox, std::move(result));
                } else {
                    throw argument_error(detail::concat({name(), ": its step has no form with momentum"}));
                }
            }
        }
        std::string name() const override { return to_string(inside); }

      private:
        // The step of r for f + R, in place of that of `result`.
        template <class R>
        any_recursion<T> stepping(R const& r, elastic_net const& prox, any_recursion<T> result) const {
            if (prox == elastic_net{}) return result;
            if constexpr (requires { with_prox(r, prox); })
                result.step = with_prox(r, prox).step;
            else
                throw argument_error(detail::concat({name(), ": its step has no form with a proximal operator"}));
            return result;
        }
    };
    std::shared_ptr<face const> held_;
};

}  // namespace laconic
