// SPDX-License-Identifier: Apache-2.0
#pragma once


#include "laconic/compress/quantize.hpp"
#include "laconic/core/text.hpp"
#include "laconic/estimate/clipped.hpp"
#include "laconic/method/dcgd.hpp"

namespace laconic {

/// TernGrad (Wen et al., NeurIPS 2017): dcgd that rounds each number at random to 0 or plus or minus the largest
/// magnitude, after clipping at `clip` standard deviations of the gradient's numbers (2.5 in the paper; 0: none). The
/// step is dcgd's, for omega = (sqrt d - 1) / 2; clipping is biased, and no theorem gives a step then.
struct terngrad {
    double clip = 0;
    overrides given{};

    template <Scalar T, class B>
    recursion<quantize, memory<T, B>, gradient_step, fixed_level, clipped<mini_batch>> compose(problem const& p) const {
        if (!(clip >= 0)) throw argument_error(detail::concat({"terngrad: clip = ", clip, " is not at least 0"}));
        detail::refuse_memory(given, "terngrad");
        quantize const c{1, 0, p_norm::largest};
        double const step = clip > 0 ? detail::own_step(given, p, "terngrad", "clipped gradients are biased")
                                     : detail::dcgd_step(c, given, p, "terngrad");
        return {c, {}, gradient_step{step}, {}, {given.batch, clip, clip_at::deviations}};
    }

    bool operator==(terngrad const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("terngrad", "g clipped, C quantize to one level of the largest, alpha 0", "Wen et al., NeurIPS 2017",
                 field("clip", &terngrad::clip).by_name(), detail::step_field, detail::batch_field);
    }
};

}  // namespace laconic
