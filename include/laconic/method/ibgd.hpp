// SPDX-License-Identifier: Apache-2.0
#pragma once


#include "laconic/compress/lazy.hpp"
#include "laconic/compress/scaled_down.hpp"
#include "laconic/core/text.hpp"
#include "laconic/method/ibcd.hpp"

namespace laconic {

/// Independent gradient descent by coin (Mishchenko, Hanzely, Richtarik, arXiv:1901.09437, algorithm 3): ibcd with one
/// block, where each of n workers sends all of its gradient with probability tau (0 means 1 / n) and nothing otherwise.
/// Step, rate and assumption are ibcd's (theorem 4 there).
struct ibgd {
    double tau = 0;
    overrides given{};

    template <Scalar T, class B>
    recursion<scaled_down<lazy<>>, memory<T, B>, gradient_step, fixed_level, mini_batch> compose(
        problem const& p) const {
        detail::refuse_memory(given, "ibgd");
        double const share = tau != 0 ? tau : 1.0 / p.workers;
        lazy<> const coin{share};
        if (!(share >= 0x1p-32 && share <= 1))
            throw argument_error(detail::concat({"ibgd: tau = ", share, " is outside [2^-32, 1]"}));
        return {scaled_down{coin},
                {},
                gradient_step{detail::masked_step([&] { return share; }, given, p, "ibgd")},
                {},
                given.batch};
    }

    bool operator==(ibgd const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("ibgd", "g full, C all or nothing as it is, alpha 0",
                 "Mishchenko, Hanzely, Richtarik, arXiv:1901.09437", field("tau", &ibgd::tau).by_name(),
                 detail::step_field, detail::batch_field);
    }
};

}  // namespace laconic
