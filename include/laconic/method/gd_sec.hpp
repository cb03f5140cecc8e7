// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "laconic/adapt/follow_last_move.hpp"
#include "laconic/compress/threshold.hpp"
#include "laconic/descent.hpp"
#include "laconic/method/rates.hpp"

namespace laconic {

/// GD-SEC (Chen, Blum, Takac, Sadler, IEEE JSTSP 2022): a coordinate of the news is said only where it is larger than
/// xi L times the last move of that coordinate of x; what is not said is kept, and a share `memory` (beta in the paper)
/// of what is said is remembered. The step is 1/L, the paper's. xi counts in units of the smoothness L of f = mean f_i:
/// the paper's xi, for the sum of its M functions, is this xi times the sum's smoothness M L. Step (1 - q)/L with
///     xi^2 <= q / (2 (1 - q)^2) / (1/(1 - c) + 1/(1 - c)^2),    c = step mu,
/// is covered by a theorem (linear rate 1 - c for any beta); large xi with beta near 0.01 saves most and is not.
struct gd_sec {
    double xi = 100;
    rates given{};

    template <Scalar T, class B>
    recursion<threshold<full, std::span<T const>>, gradient_step, follow_last_move<T, B>> compose(
        problem const& p) const {
        if (!(xi >= 0)) throw argument_error("gd_sec: xi = " + shortest(xi) + " is not at least 0");
        double const l = xi == 0 && given.step ? 0 : detail::known(p.smoothness, "the smoothness L", "gd_sec");
        double const step = detail::step_or(given, p, "gd_sec", [&] { return 1 / l; });
        double const beta = given.memory.value_or(0.01);
        if (!(beta >= 0 && beta <= 1)) throw argument_error("gd_sec: beta = " + shortest(beta) + " is outside [0, 1]");
        return {{}, beta, true, 1, gradient_step{step}, follow_last_move<T, B>(xi * l)};
    }

    bool operator==(gd_sec const&) const = default;
    friend std::string to_string(gd_sec const& m) {
        return "gd_sec(xi=" + shortest(m.xi) + ", beta=" + shortest(m.given.memory.value_or(0.01)) +
               (m.given.step ? ", step=" + to_string(*m.given.step) : "") + ")";
    }
};

static_assert(Method<gd_sec>);

}  // namespace laconic
