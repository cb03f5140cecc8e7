// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "laconic/compress/quantize.hpp"
#include "laconic/descent.hpp"
#include "laconic/method/rates.hpp"

namespace laconic {

/// Gradient descent with compressed gradients and no memory: QSGD, TernGrad, rand-k descent. With an unbiased
/// compressor and the step 1 / (L + 2 omega max L_i / n),
///     E|x^k - x*|^2 <= (1 - step mu)^k |x^0 - x*|^2 + 2 step omega / (n mu) mean_i |grad f_i(x*)|^2 :
/// it comes near the optimum and stays at a distance (from the variance identity and co-coercivity; Gorbunov, Hanzely,
/// Richtarik, AISTATS 2020, gives the same). Without an omega, give the step; a biased compressor may then diverge.
template <class C>
struct dcgd {
    static_assert(Compressor<C>, "dcgd{C}: C is not a compressor");
    C compressor;
    rates given{};

    template <Scalar T, class B>
    recursion<C> compose(problem const& p) const {
        double const step = detail::step_or(given, p, "dcgd", [&] {
            double const omega = detail::omega_of(compressor, p, "dcgd", "give the step, or use ef or ef21");
            double const l = detail::known(p.smoothness, "the smoothness L", "dcgd");
            return 1 / (l + 2 * omega * detail::known(p.largest_smoothness, "max L_i", "dcgd") / p.workers);
        });
        return {compressor, 0, false, 1, gradient_step{step}, {}};
    }

    bool operator==(dcgd const&) const = default;
    friend std::string to_string(dcgd const& m) { return detail::called("dcgd", to_string(m.compressor), m.given); }
};
template <class C>
dcgd(C, rates = {}) -> dcgd<C>;

static_assert(Method<dcgd<quantize>>);

}  // namespace laconic
