// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "laconic/core/size.hpp"

namespace laconic::detail {

/// Cuts the coordinates 0 .. d - 1, d < 2^32, into `parts` >= 1 consecutive parts whose lengths differ by at most one;
/// some are empty where there are more parts than coordinates.
struct partition {
    std::size_t d;
    std::size_t parts;

    /// The first coordinate of part p; first(parts) is d.
    std::size_t first(std::size_t p) const { return as_size(std::uint64_t{d} * p / parts); }
    std::size_t length(std::size_t p) const { return first(p + 1) - first(p); }
    /// The part of x that holds parts p .. p + count - 1.
    template <class T>
    std::span<T> of(std::span<T> x, std::size_t p, std::size_t count = 1) const {
        return x.subspan(first(p), first(p + count) - first(p));
    }
};

}  // namespace laconic::detail
