// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "laconic/collective/agreement.hpp"
#include "laconic/core/text.hpp"
#include "laconic/wire/kind.hpp"

namespace laconic::detail {

/// What ranks must agree on that run a recursion on vectors of d numbers of type T.
template <class T, class R>
[[gnu::cold, gnu::noinline]] agreed_items composition_of(R const& method, std::size_t d, std::uint64_t seed) {
    return {{"the dimension", d},
            {"the bytes of a number", sizeof(T)},
            {"the version of the wire format", wire_version},
            {"the compressor", to_string(method.compressor)},
            {"the feedback", described(method.feedback)},
            {"the scale", method.scale},
            {"the step", described(method.step)},
            {"the level", described(method.level)},
            {"the estimator", described(method.estimator)},
            {"the transport", described(method.transport)},
            {"the seed", seed}};
}

}  // namespace laconic::detail
