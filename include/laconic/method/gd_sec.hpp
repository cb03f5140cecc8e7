// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <type_traits>

#include "laconic/adapt/follow_last_move.hpp"
#include "laconic/compress/threshold.hpp"
#include "laconic/core/text.hpp"
#include "laconic/estimate/mini_batch.hpp"
#include "laconic/method/overrides.hpp"
#include "laconic/recursion.hpp"

namespace laconic {

namespace detail {

inline constexpr double usual_beta = 0.01;  // the paper's
inline constexpr auto beta_field = field("beta",
                                         [](auto& m) -> decltype(auto) {
                                             if constexpr (std::is_const_v<std::remove_reference_t<decltype(m)>>)
                                                 return (m.given.memory ? *m.given.memory : usual_beta);
                                             else
                                                 return (m.given.memory);
                                         })
                                       .written()
                                       .by_name();

template <Scalar T, class B, class C>
recursion<threshold<C, std::span<T const>>, memory<T, B>, gradient_step, follow_last_move<T, B>, mini_batch>
compose_gd_sec(C const& survivors, double xi, overrides const& given, problem const& p, char const* method) {
    if (!(xi >= 0)) throw argument_error(concat({std::string(method), ": xi = ", xi, " is not at least 0"}));
    double const l = xi == 0 && given.step ? 0 : known(p.smoothness, "the smoothness L", method);
    double const step = step_or(given, p, method, [&] { return 1 / l; });
    double const beta = given.memory.value_or(usual_beta);
    if (!(beta >= 0 && beta <= 1))
        throw argument_error(concat({std::string(method), ": beta = ", beta, " is outside [0, 1]"}));
    return {{{}, survivors}, {beta, 1}, gradient_step{step}, follow_last_move<T, B>(xi * l), given.batch};
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
        return detail::compose_gd_sec<T, B>(identity{}, xi, given, p, "gd_sec");
    }

    bool operator==(gd_sec const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("gd_sec", "g full, C a threshold that follows x, alpha beta, decay 1",
                 "Chen, Blum, Takac, Sadler, IEEE JSTSP 2022", field("xi", &gd_sec::xi).written().by_name(),
                 detail::beta_field, detail::step_field, detail::batch_field);
    }
};

}  // namespace laconic
