// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "laconic/compress/quantize.hpp"
#include "laconic/descent.hpp"
#include "laconic/method/rates.hpp"

namespace laconic {

namespace detail {

template <class C>
recursion<C> compose_dcgd(C const& compressor, rates const& given, problem const& p, char const* method) {
    refuse_memory(given, method);
    double const step = step_or(given, p, method, [&] {
        double const omega = omega_of(compressor, p, method, "give the step, or use ef or ef21");
        double const l = known(p.smoothness, "the smoothness L", method);
        return 1 / (l + 2 * omega * known(p.largest_smoothness, "max L_i", method) / p.workers);
    });
    return {compressor, 0, false, 1, gradient_step{step}, {}};
}

}  // namespace detail

/// Gradient descent with compressed gradients and no memory: QSGD, TernGrad, rand-k descent. With an unbiased
/// compressor and the step 1 / (L + 2 omega max L_i / n),
///     E|x^k - x*|^2 <= (1 - step mu)^k |x^0 - x*|^2 + 2 step omega / (n mu) mean_i |grad f_i(x*)|^2 :
/// it comes near the optimum and stays at a distance (from the variance identity and co-coercivity; Gorbunov, Hanzely,
/// Richtarik, AISTATS 2020, gives the same). Without an omega, give the step; a biased compressor may then diverge.
template <class C>
struct dcgd {
    static_assert(SomeCompressor<C>, "dcgd{C}: C is not a compressor");
    C compressor;
    rates given{};

    template <Scalar T, class B>
    recursion<C> compose(problem const& p) const {
        return detail::compose_dcgd(compressor, given, p, "dcgd");
    }

    bool operator==(dcgd const&) const = default;
    friend std::string to_string(dcgd const& m) { return detail::called("dcgd", to_string(m.compressor), m.given); }
};
template <class C>
dcgd(C, rates = {}) -> dcgd<C>;

static_assert(Method<dcgd<quantize>>);

}  // namespace laconic
