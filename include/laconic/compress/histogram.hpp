// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "laconic/backend/host.hpp"
#include "laconic/backend/scales.hpp"

namespace laconic::detail {

/// The magnitudes of a vector, largest first, each to within a factor of 1 + 2^-8; those below 2^-48 of the largest
/// count as 0. It takes 144 KiB, whatever the length of the vector.
struct histogram {
    kernels::magnitude_bins bins;
    std::vector<std::uint32_t> counts;  ///< per bin
    std::vector<double> room;           ///< one number per bin, for the use of a curve

    void make_room() {
        counts.resize(kernels::magnitude_bins::count);
        room.resize(kernels::magnitude_bins::count);
    }
    /// Fills it in one pass over x; `largest` is the largest magnitude of x, finite and above 0.
    template <class B, Scalar T>
    void fill(B& on, std::span<T const> x, T largest) {
        make_room();
        bins = kernels::magnitude_bins(static_cast<double>(largest));
        count_by_magnitude(on, x, largest, std::span<std::uint32_t>(counts));
    }
};

}  // namespace laconic::detail
