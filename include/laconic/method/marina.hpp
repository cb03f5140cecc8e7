// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "laconic/estimate/page.hpp"
#include "laconic/feedback/last_gradient.hpp"
#include "laconic/method/overrides.hpp"
#include "laconic/recursion.hpp"

namespace laconic {

/// MARINA (Gorbunov, Burlachenko, Li, Richtarik, ICML 2021): with probability p a round all ranks at once send
/// uncompressed gradients; else unbiasedly compressed differences to the gradients of the last round. Both ends draw
/// the same coin. p = 0 means 1 / (1 + omega). With
///     step = 1 / (L (1 + sqrt((1 - p) omega / (p n)))),                     L = sqrt(mean L_i^2), or, where mu > 0,
///     step = min{ 1 / (L (1 + sqrt(2 (1 - p) omega / (p n)))), p / (2 mu) } :
/// f(x) - f* + (step / p) |g - grad f(x)|^2, g the estimate at x, falls in expectation by the factor 1 - step mu a
/// round (under the Polyak-Lojasiewicz inequality), and for smooth f the mean of E|grad f|^2 over K rounds is at most 2
/// (f(x^0) - f*) / (step K).
template <class C>
struct marina {
    static_assert(detail::require_unbiased<C>());
    C compressor;
    double p = 0;
    overrides given{};

    template <Scalar T, class B>
    recursion<identity_or<C>, last_gradient<T, B>, gradient_step, synchronise> compose(problem const& its) const {
        detail::theory const of(*this, its);
        auto const omega = [&] { return of.omega(compressor, "use ef21 for a contractive one"); };
        double const q = p > 0 ? p : 1 / (1 + omega());
        double const step = of.step([&] {
            double const l = of.mean_square_smoothness();
            double const noise = (1 - q) * omega() / (q * its.workers), mu = its.strong_convexity;
            if (mu > 0) return std::min(1 / (l * (1 + std::sqrt(2 * noise))), q / (2 * mu));
            return 1 / (l * (1 + std::sqrt(noise)));
        });
        return {{compressor}, last_gradient<T, B>(q), gradient_step{step}, {q}};
    }

    bool operator==(marina const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("marina", "g full, C unbiased, h the last gradient; all in full with probability p",
                 "Gorbunov, Burlachenko, Li, Richtarik, ICML 2021", detail::compressor_field,
                 field("p", &marina::p).between(0, 1).by_name(), detail::step_field);
    }
};
template <class C>
marina(C, double = 0, overrides = {}) -> marina<C>;

/// DASHA (Tyurin, Richtarik, ICLR 2023): as marina, but only the first round is in full. After it each rank sends
///     m_i = C(g_i - last g_i - a (h_i - last g_i)),    h_i <- h_i + m_i,    a = 1 / (2 omega + 1),
/// and x moves along the mean of all h_i. With Lt = sqrt(mean L_i^2) and
///     step = 1 / (L + Lt sqrt(2 omega (4 omega + 1) / n)),
/// E[f + (step / (2 a)) |mean h_i - grad f|^2 + (step omega / n) mean |h_i - grad f_i|^2] falls by at least step / 2
/// times |grad f|^2 a round, for any smooth f. Where mu > 0 (under the Polyak-Lojasiewicz inequality)
///     step = min{ 1 / (L + Lt sqrt((24 omega^2 + 4 omega) / n)), a / (2 mu) },
/// and f - f* + (step / a) |mean h_i - grad f|^2 + (4 omega step / n) mean |h_i - grad f_i|^2 falls in expectation by
/// the factor 1 - step mu. With a batch of b rows gradients are by PAGE (DASHA-PAGE), in full with probability b / (b +
/// m), m being the number of samples; no theorem here gives its step. (The steps are longer than those of the paper, by
/// the identity (1 - a)^2 + 2 omega a^2 = 1 - a; the tests compute the expectations.)
template <class C>
struct dasha {
    static_assert(detail::require_unbiased<C>());
    C compressor;
    overrides given{};

    template <Scalar T, class B>
    recursion<identity_or<C>, last_gradient<T, B>, gradient_step, synchronise, page<T, B>> compose(
        problem const& p) const {
        detail::theory const of(*this, p);
        double const omega = of.omega(compressor, "use ef21 for a contractive one"), a = 1 / (2 * omega + 1);
        double const rows = static_cast<double>(given.batch);
        auto const samples = [&] { return of.known(static_cast<double>(p.samples), "m, the number of samples"); };
        double const in_full = rows > 0 ? rows / (rows + samples()) : 1;
        double const step = of.step([&] {
            of.refuse_batch();
            double const l = of.smoothness(), lt = of.mean_square_smoothness(), n = p.workers, mu = p.strong_convexity;
            if (mu > 0) return std::min(1 / (l + lt * std::sqrt((24 * omega * omega + 4 * omega) / n)), a / (2 * mu));
            return 1 / (l + lt * std::sqrt(2 * omega * (4 * omega + 1) / n));
        });
        return {{compressor}, last_gradient<T, B>(0, a), gradient_step{step}, {0}, page<T, B>(given.batch, in_full)};
    }

    bool operator==(dasha const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("dasha", "g full or by PAGE, C unbiased, h follows g by differences of g",
                 "DASHA, DASHA-PAGE: Tyurin, Richtarik, ICLR 2023", detail::compressor_field, detail::step_field,
                 detail::batch_field);
    }
};
template <class C>
dasha(C, overrides = {}) -> dasha<C>;

}  // namespace laconic
