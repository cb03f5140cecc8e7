// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "laconic/compress/quantize.hpp"
#include "laconic/compress/threshold.hpp"
#include "laconic/method/overrides.hpp"
#include "laconic/recursion.hpp"

/// GD-SEC of all rows and of batches, and with a quantizer.
namespace laconic {

namespace detail {

inline constexpr double usual_beta = 0.01;  // the paper's
inline constexpr auto beta_or_usual = [](auto const& beta) -> auto& { return beta ? *beta : usual_beta; };
inline constexpr auto beta_field =
    given_field("beta", &overrides::memory, beta_or_usual).between(0, 1).written().by_name();

template <Scalar T, class B, class C>
recursion<threshold<C, std::span<T const>>, memory<T, B>, gradient_step, follow_last_move<T, B>, mini_batch>
compose_gd_sec(C const& survivors, double xi, theory const& of) {
    double const l = xi == 0 && of.given.step ? 0 : of.smoothness();
    double const step = of.step([&] { return 1 / l; }), beta = of.given.memory.value_or(usual_beta);
    return {{{}, survivors}, {beta, 1}, gradient_step{step}, follow_last_move<T, B>(xi * l), of.given.batch};
}

}  // namespace detail

/// GD-SEC (Chen, Blum, Takac, Sadler, IEEE JSTSP 2022): a coordinate of delta is sent only where it is larger than xi L
/// times the last move of that coordinate of x; what is not sent stays in the residual, and a share `memory` (beta in
/// the paper) of what is sent enters the shift. The step is 1/L, the paper's. xi is in units of the smoothness L of f =
/// mean f_i: the paper's xi, for the sum of its M functions, is this xi times the sum's smoothness M L. A theorem
/// covers step (1 - q)/L with
///     xi^2 <= q / (2 (1 - q)^2) / (1/(1 - c) + 1/(1 - c)^2),    c = step mu
/// (linear rate 1 - c for any beta). It does not cover a large xi with beta near 0.01, which saves most.
struct gd_sec {
    double xi = 100;
    overrides given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        return detail::compose_gd_sec<T, B>(identity{}, xi, {*this, p});
    }
    bool operator==(gd_sec const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("gd_sec", "g full, C a threshold that follows x, alpha beta, decay 1",
                 "Chen, Blum, Takac, Sadler, IEEE JSTSP 2022", detail::xi_field, detail::beta_field, detail::step_field,
                 detail::batch_field);
    }
};

/// SGD-SEC (Chen, Blum, Takac, Sadler, IEEE JSTSP 2022): gd_sec with the gradients of a batch of rows, of one where no
/// batch is given. No theorem gives its parameters; the defaults are gd_sec's, and with a constant step it stays at a
/// distance from the optimum that shrinks with the step.
struct sgd_sec {
    double xi = 100;
    overrides given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        return detail::compose_gd_sec<T, B>(identity{}, xi, detail::theory(*this, p).with_rows());
    }
    bool operator==(sgd_sec const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("sgd_sec", "gd_sec with mini-batches", "Chen, Blum, Takac, Sadler, IEEE JSTSP 2022", detail::xi_field,
                 detail::beta_field, detail::step_field, detail::rows_field.written());
    }
};

/// QGD-SEC (Chen, Blum, Takac, Sadler, IEEE JSTSP 2022): gd_sec whose coordinates that pass the threshold are sent
/// through another compressor, a quantizer. Its rounding errors are sent later, with what the threshold held back. No
/// theorem gives its parameters; the defaults are gd_sec's.
template <class C = quantize>
struct quantized_gd_sec {
    static_assert(detail::require_compressor<C>());

    C compressor{};
    double xi = 100;
    overrides given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        return detail::compose_gd_sec<T, B>(compressor, xi, {*this, p});
    }
    bool operator==(quantized_gd_sec const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("quantized_gd_sec", "gd_sec, what passes the threshold compressed by C",
                 "Chen, Blum, Takac, Sadler, IEEE JSTSP 2022", detail::compressor_field, detail::xi_field,
                 detail::beta_field, detail::step_field, detail::batch_field);
    }
};
template <class C>
quantized_gd_sec(C, double = 100, overrides = {}) -> quantized_gd_sec<C>;

}  // namespace laconic
