// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "laconic/estimate/mini_batch.hpp"
#include "laconic/method/overrides.hpp"
#include "laconic/recursion.hpp"

namespace laconic {

namespace detail {

template <Scalar T, class B, class C>
recursion<C, memory<T, B>, gradient_step, fixed_level, mini_batch> compose_ef(C const& compressor,
                                                                              overrides const& given, problem const& p,
                                                                              char const* method) {
    refuse_memory(given, method);
    double const step = step_or(given, p, method, [&] {
        refuse_batch(given, method);
        double const delta = delta_of(compressor, p, method, "give the step");
        double const l = known(p.smoothness, "the smoothness L", method);
        double const largest = known(p.largest_smoothness, "max L_i", method);
        return std::min(1 / (4 * l), delta / (14 * std::sqrt((1 - delta) * l * largest)));
    });
    return {compressor, {0, 1}, gradient_step{1}, {}, given.batch, {}, step};
}

}  // namespace detail

/// Error feedback (EF-SGD, Top-k SGD, 1-bit SGD; Stich et al., NeurIPS 2018; Karimireddy et al., ICML 2019): what a
/// message leaves out is added to the next one; the step is inside the memory, so that it may change from round to
/// round. For a contractive compressor, full gradients of convex f_i, and
///     step = min{ 1 / (4 L), delta / (14 sqrt((1 - delta) L max L_i)) },
/// V = |x - mean e - x*|^2 + (12 step L / delta) mean |e_i|^2 obeys
///     V+ <= (1 - min(step mu / 2, delta / 4)) V + 48 step^3 L (1 - delta) / delta^2 mean_i |grad f_i(x*)|^2 ,
/// by the descent of the virtual iterate x - mean e. No theorem covers steps of the order of 1 / L, which usually work,
/// nor batches: give the step yourself.
template <class C>
struct ef_sgd {
    static_assert(detail::require_compressor<C>());
    C compressor;
    overrides given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        return detail::compose_ef<T, B>(compressor, given, p, "ef_sgd");
    }

    bool operator==(ef_sgd const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("ef_sgd", "g scaled by the step, C contractive, alpha 0, decay 1",
                 "Stich, Cordonnier, Jaggi, NeurIPS 2018; Karimireddy et al., ICML 2019",
                 field("compressor", &ef_sgd::compressor).needed(), detail::step_field, detail::batch_field);
    }
};
template <class C>
ef_sgd(C, overrides = {}) -> ef_sgd<C>;

}  // namespace laconic
