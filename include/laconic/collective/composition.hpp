// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/collective/agreement.hpp"
#include "laconic/core/text.hpp"

namespace laconic::detail {

/// What ranks must agree on that run a recursion.
template <class R>
[[gnu::cold, gnu::noinline]] agreed_items composition_of(R const& method) {
    return {{"the compressor", to_string(method.compressor)},
            {"the feedback", described(method.feedback)},
            {"the scale", method.scale},
            {"the step", described(method.step)},
            {"the level", described(method.level)},
            {"the estimator", described(method.estimator)},
            {"the transport", described(method.over)}};
}

}  // namespace laconic::detail
