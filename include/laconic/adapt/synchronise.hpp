// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "laconic/adapt/level.hpp"
#include "laconic/compress/identity_or.hpp"
#include "laconic/core/text.hpp"

namespace laconic {

/// Sets an identity_or to send everything in full in the first round and then, on all ranks at once, with probability p
/// in each (the shared coin of MARINA; Gorbunov et al., ICML 2021).
struct synchronise {
    double p = 1;

    template <class B, class C, Scalar T>
    void tune(B&, identity_or<C>& compressor, round_context const& now, std::span<T const>, std::span<T const>) const {
        compressor.in_full = detail::sends_in_full(now, p);
    }
    template <class B, Scalar T, class M>
    void update(B&, std::span<T const>, M const&) const {}
    friend std::string to_string(synchronise l) { return detail::concat({"synchronise(", l.p, ")"}); }
};

}  // namespace laconic
