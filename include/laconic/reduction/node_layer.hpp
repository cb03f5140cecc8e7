// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "laconic/core/size.hpp"
#include "laconic/reduction/caller_vector.hpp"
#include "laconic/reduction/options.hpp"

namespace laconic::detail {

/// How the numbers of a layer are divided among so many ranks of a node: of a matrix each gets whole rows.
inline partition node_parts(layer const& l, int ranks) {
    return {l.size, static_cast<std::size_t>(ranks), l.rows > 1 && l.size > 0 ? l.size / l.rows : 1};
}

/// A layer of a reducer over nodes, on one rank.
template <Scalar T>
struct node_layer {
    layer is;
    std::vector<T> share;  ///< this rank's
    layer_vector x{};      ///< the caller's, in this step
    step_options given{};
    bool present = false;      ///< on all ranks of the node
    bool has_numbers = false;  ///< that are not 0, on some rank of the node; with skip_zero_layers

    /// Throws what is wrong with the caller's vector or the options of this step.
    void check() const {
        x.require(is.size);
        detail::check<T>(given);
    }
    /// Whether there is a number on this rank that is not 0; `room` has at least as many numbers.
    bool has_own(host& on, std::span<T> room) const {
        if (!x.is_started() || x.held().size() != is.size) return false;
        return !are_zeros(on, x.held().as_numbers(room.first(is.size)));
    }
};

}  // namespace laconic::detail
