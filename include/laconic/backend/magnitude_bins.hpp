// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>

#include "laconic/core/contract.hpp"

namespace laconic::kernels {

/// Bins for magnitudes, counted down from that of the largest: each octave [2^e, 2^(e+1)) has 256, as wide as each
/// other. So what is in one bin differs by a factor of 1 + 2^-8 at most, and what is below them all is at most 2^-48
/// times (1 + 2^-8) of the largest.
class magnitude_bins {
  public:
    static constexpr int width = 8;  ///< how many bits of the mantissa they distinguish
    static constexpr std::size_t per_octave = std::size_t{1} << width, count = 48 * per_octave;

    magnitude_bins() = default;
    /// For a vector whose largest magnitude that is: finite and above 0.
    explicit magnitude_bins(double largest) {
        int exponent = 0;
        top_ = static_cast<int>(std::ldexp(std::frexp(largest, &exponent), width + 1)) & mask;
    }

    /// The product of its bounds, where the largest is in [1, 2): it stands for the squares in a bin, none of which
    /// differs from it by more than a factor of 1 + 2^-8, up or down.
    double square(std::size_t bin) const {
        int const place = top_ - static_cast<int>(bin), low = static_cast<int>(per_octave) + (place & mask);
        return std::ldexp(low * (low + 1), 2 * ((place >> width) - width));
    }

  private:
    static constexpr int mask = static_cast<int>(per_octave) - 1;
    int top_ = 0;  // the place of the largest in its octave
};

}  // namespace laconic::kernels
