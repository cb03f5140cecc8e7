// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "laconic/core/contract.hpp"

namespace laconic::detail {

/// The coordinates 0 .. d - 1, d < 2^32, in `parts` >= 1 consecutive parts whose lengths differ by at most one; some
/// are empty where there are more parts than coordinates.
struct partition {
    std::size_t d;
    std::size_t parts;

    /// Where part p starts; p = parts gives d.
    std::size_t first(std::size_t p) const { return static_cast<std::size_t>(std::uint64_t{d} * p / parts); }
    std::size_t length(std::size_t p) const { return first(p + 1) - first(p); }
    /// The numbers of `count` parts from p on.
    template <class T>
    std::span<T> of(std::span<T> x, std::size_t p, std::size_t count = 1) const {
        return x.subspan(first(p), first(p + count) - first(p));
    }
};

}  // namespace laconic::detail
