// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "laconic/collective/agreement.hpp"
#include "laconic/core/text.hpp"
#include "laconic/wire/kind.hpp"

namespace laconic::detail {

/// What ranks must agree on that run a recursion on vectors of d numbers of type T.
template <class T, class R>
std::vector<agreed_item> composition_of(R const& method, std::size_t d, std::uint64_t seed) {
    return {{"the dimension", std::to_string(d)},
            {"the bytes of a number", std::to_string(sizeof(T))},
            {"the version of the wire format", std::to_string(wire_version)},
            {"the compressor", to_string(method.compressor)},
            {"the feedback", described(method.feedback)},
            {"the scale", shortest(method.scale)},
            {"the step", described(method.step)},
            {"the level", described(method.level)},
            {"the estimator", described(method.estimator)},
            {"the transport", described(method.transport)},
            {"the seed", std::to_string(seed)}};
}

}  // namespace laconic::detail
