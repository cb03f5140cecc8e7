// SPDX-License-Identifier: Apache-2.0
#pragma once


#include "laconic/compress/quantize.hpp"
#include "laconic/core/text.hpp"
#include "laconic/method/dcgd.hpp"

namespace laconic {

/// QSGD (Alistarh, Grubic, Li, Tomioka, Vojnovic, NeurIPS 2017): dcgd with random rounding to `levels` levels of the
/// 2-norm of the whole gradient, and dcgd's step.
struct qsgd {
    int levels = 4;
    overrides given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        return detail::compose_dcgd<T, B>(quantize{levels, 0, p_norm::two}, given, p, "qsgd");
    }

    bool operator==(qsgd const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("qsgd", "g full or mini-batch, C quantize of the 2-norm, alpha 0", "Alistarh et al., NeurIPS 2017",
                 field("levels", &qsgd::levels).between(1, 32767).written_by_name(), detail::step_field,
                 detail::batch_field);
    }
};

}  // namespace laconic
