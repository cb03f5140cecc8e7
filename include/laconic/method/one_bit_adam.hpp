// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "laconic/compress/signs.hpp"
#include "laconic/method/overrides.hpp"
#include "laconic/optim/adam.hpp"
#include "laconic/recursion.hpp"
#include "laconic/transport/served.hpp"

namespace laconic {

/// 1-bit Adam (Tang et al., ICML 2021): Adam without bias correction. The first `warm_up` rounds are in full; from then
/// on v stays as it is, and each rank sends its next value of the common m,
///     m_i = beta1 m + (1 - beta1) g_i,    delta_i = m_i + e_i,    e_i <- delta_i - C(delta_i) .
/// Rank 0 answers the mean of the messages by C, too, and keeps what its answer leaves out for the next one; the
/// answer is m, and x <- x - step m / (sqrt(v) + epsilon). Both messages are scaled_sign's unless you give another C;
/// the paper's signs times the root mean square are not contractive. warm_up is 15 to 25 % of the rounds in the paper.
/// With v fixed it is momentum SGD with error feedback in the norm of sqrt(v); no theorem here gives the step. In a
/// training loop of your own take error_feedback with a common momentum, and adam's freeze_after.
template <class C = scaled_sign>
struct one_bit_adam {
    static_assert(detail::require_compressor<C>());

    C compressor{};
    std::uint64_t warm_up = 100;  ///< rounds in full
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
    overrides given{};

    template <Scalar T, class B>
    recursion<identity_or<C>, memory<T, B>, adam<T, B>, synchronise, mini_batch, served<C, T, B>> compose(
        problem const& p) const {
        double const step = detail::theory(*this, p).own_step("no theorem here gives its step");
        adam_options const numbers{.rate = step,
                                   .beta1 = beta1,
                                   .beta2 = beta2,
                                   .epsilon = epsilon,
                                   .bias_correction = false,
                                   .freeze_after = warm_up};
        return {{compressor},
                memory<T, B>(0, 1, beta1, false, false, false, true),
                adam<T, B>(numbers),
                {0, warm_up},
                mini_batch{given.batch},
                {compressor, {0, 1}, warm_up}};
    }
    bool operator==(one_bit_adam const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("one_bit_adam",
                 "g a mean that all ranks share, C contractive, alpha 0, decay 1; Adam whose v is fixed",
                 "1-bit Adam: Tang et al., ICML 2021", detail::compressor_field,
                 field("warm_up", &one_bit_adam::warm_up).between(1, 1e12).by_name(),
                 field("beta1", &one_bit_adam::beta1).between(0, 1).by_name(),
                 field("beta2", &one_bit_adam::beta2).between(0, 1).by_name(),
                 field("epsilon", &one_bit_adam::epsilon).between(0, 1e300).by_name(), detail::step_field,
                 detail::batch_field);
    }
};
template <class C>
one_bit_adam(C) -> one_bit_adam<C>;

}  // namespace laconic
