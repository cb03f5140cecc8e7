// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <span>
#include <string>

#include "laconic/adapt/level.hpp"

namespace laconic {

/// Starts a low_rank<std::span<T const>> from the factor that this rank said last, the one of the matrix's shorter
/// side; in the first round from what the key gives. Where the matrix changes slowly each round is a step of the power
/// method towards its best approximation (PowerSGD's warm start, Vogels et al., NeurIPS 2019, section 3).
template <Scalar T, class B = host>
class warm_start {
  public:
    template <class C>
    requires std::same_as<decltype(C::start), std::span<T const>>
    void tune(B&, C& compressor, std::span<T const>, std::span<T const>) {
        compressor.start = std::span<T const>(last_);
    }
    template <class M>
    void said(B&, std::span<T const>, M const& m) {
        auto const& factor = m.shorter();
        last_.assign(factor.begin(), factor.end());
    }
    friend std::string to_string(warm_start const&) { return "warm_start"; }

  private:
    typename B::template array<T> last_;
};

}  // namespace laconic
