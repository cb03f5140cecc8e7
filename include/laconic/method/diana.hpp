// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include "laconic/estimate/variance_reduced.hpp"
#include "laconic/method/overrides.hpp"
#include "laconic/recursion.hpp"

namespace laconic {

namespace detail {

// The longer of the two forms' steps; for batches there is the general form alone.
inline double diana_step(double omega, double alpha, theory const& of) {
    double const l = of.largest_smoothness(), mu = of.p.least_strong_convexity, n = of.p.workers;
    auto const at_most = [](double share, double m) {
        return m > 0 ? share / m : std::numeric_limits<double>::infinity();
    };
    if (of.given.batch > 0)
        return std::min(at_most(alpha / 2, of.p.strong_convexity),
                        1 / (of.smoothness() + 6 * omega * l / n + (2 + 10 * omega) * of.noise_of_batch()));
    double const left = 1 - alpha * (1 + omega);
    double const sharp = left > 0 ? std::min(at_most(alpha, mu), 2 / ((l + mu) * (1 + omega / (n * left)))) : 0;
    return std::max(sharp, std::min(at_most(alpha / 2, mu), 2 / ((l + mu) * (1 + 6 * omega / n))));
}

}  // namespace detail

/// DIANA (Mishchenko, Gorbunov, Takac, Richtarik, arXiv:1901.09269): unbiasedly compressed differences to a shift that
/// converges to the gradients at the optimum. With memory rate alpha = 1 / (2 (1 + omega)) and
///     step = min{ alpha / mu, 2 / ((L + mu)(1 + 2 omega / n)) },            L = max L_i, mu = min mu_i,
/// V = |x - x*|^2 + (4 omega (1 + omega) / n) step^2 mean |h_i - grad f_i(x*)|^2 falls in expectation by the factor 1 -
/// step mu a round (theorem 1 there, for any unbiased compressor; a prox is allowed). For another alpha up to 1 / (1 +
/// omega), 2 omega / n becomes omega / (n (1 - alpha (1 + omega))), or step = min{ alpha / (2 mu), 2 / ((L + mu)(1 + 6
/// omega / n)) } (Horvath et al., arXiv:1904.05115), whichever is longer. With batches of b rows on each worker and
///     step = min{ alpha / (2 mu), 1 / (L + 6 omega max L_i / n + (2 + 10 omega) max L_ij / (n b)) },    L and mu of f,
/// |x - x*|^2 + (4 omega / (alpha n)) step^2 mean |h_i - grad f_i(x*)|^2 falls by the same factor, down to a floor to
/// which each round adds (2 + 10 omega) step^2 sigma^2 / (n b), sigma^2 being the mean variance of a row's gradient at
/// x* (by the general form's proof).
template <class C>
struct diana {
    static_assert(detail::require_unbiased<C>());
    C compressor;
    overrides given{};

    template <Scalar T, class B>
    recursion<C, memory<T, B>> compose(problem const& p) const {
        detail::theory const of(*this, p);
        double const omega = of.omega(compressor, "use ef_sgd or ef21 for a contractive one");
        double const alpha = of.memory(1 / (2 * (1 + omega)), 1 / (1 + omega));
        double const step = of.step([&] { return detail::diana_step(omega, alpha, of); });
        return {compressor, {alpha, 0}, gradient_step{step}, {}, given.batch};
    }

    static constexpr detail::when_absent absence() { return detail::when_absent::rescaled; }

    bool operator==(diana const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("diana", "g full or mini-batch, C unbiased, alpha in (0, 1/(1+omega)]",
                 "Mishchenko, Gorbunov, Takac, Richtarik, arXiv:1901.09269", detail::compressor_field,
                 detail::step_field, detail::memory_field, detail::batch_field);
    }
};
template <class C>
diana(C, overrides = {}) -> diana<C>;

namespace detail {

template <Scalar T, class B, class C, class E>
recursion<C, memory<T, B>, gradient_step, fixed_level, E> compose_vr_diana(C const& compressor, E estimator,
                                                                           theory const& of) {
    double const omega = of.omega(compressor, "use ef21 for a contractive one");
    double const alpha = of.memory(1 / (1 + omega), 1 / (1 + omega));
    double const step = of.step([&] { return 1 / (of.sample_smoothness() * (1 + 36 * (omega + 1) / of.p.workers)); });
    return {compressor, {alpha, 0}, gradient_step{step}, {}, std::move(estimator)};
}

}  // namespace detail

/// VR-DIANA (Horvath, Kovalev, Mishchenko, Richtarik, Stich, Optim. Methods Softw. 2023): diana with gradients of a few
/// rows (given.batch, or one) that l_svrg corrects, so that the noise of sampling, too, vanishes at the optimum. Each
/// f_i is the mean of m functions f_ij, L = max L_ij. With memory rate alpha = 1 / (1 + omega), probability 1/m,
///     step = 1 / (L (1 + 36 (omega + 1) / n))
/// and batches of one row,
///     |x - x*|^2 + step^2 (4 (omega + 1) / (alpha n^2) sum_i |h_i - grad f_i(x*)|^2 + 16 (omega + 1) / n^2 sum_ij
///                          |grad f_ij(w_i) - grad f_ij(x*)|^2)
/// falls in expectation by the factor 1 - min(step mu, alpha / 2, 3 / (8 m)) a round, mu being f's; a prox is allowed.
template <class C>
struct vr_diana {
    static_assert(detail::require_unbiased<C>());
    C compressor;
    overrides given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        auto const of = detail::theory(*this, p).with_rows();
        double const m = of.known(static_cast<double>(p.samples), "m, the number of samples");
        double const moves = std::min(1.0, static_cast<double>(of.given.batch) / m);
        return detail::compose_vr_diana<T, B>(compressor, l_svrg<T, B>(of.given.batch, moves), of);
    }

    bool operator==(vr_diana const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("vr_diana", "g by L-SVRG, C unbiased, alpha in (0, 1/(1+omega)]",
                 "Horvath et al., Optim. Methods Softw. 2023", detail::compressor_field, detail::step_field,
                 detail::memory_field, detail::rows_field);
    }
};
template <class C>
vr_diana(C, overrides = {}) -> vr_diana<C>;

/// VR-DIANA with SAGA's table in place of l_svrg's reference point, for generalised linear objectives: w_ij is the
/// iterate at which row j was drawn last. The parameters and the theorem are the same.
template <class C>
struct vr_diana_saga {
    static_assert(detail::require_unbiased<C>());
    C compressor;
    overrides given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        auto const of = detail::theory(*this, p).with_rows();
        return detail::compose_vr_diana<T, B>(compressor, saga<T, B>(of.given.batch), of);
    }

    bool operator==(vr_diana_saga const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("vr_diana_saga", "g by SAGA, C unbiased, alpha in (0, 1/(1+omega)]",
                 "Horvath et al., Optim. Methods Softw. 2023", detail::compressor_field, detail::step_field,
                 detail::memory_field, detail::rows_field);
    }
};
template <class C>
vr_diana_saga(C, overrides = {}) -> vr_diana_saga<C>;

}  // namespace laconic
