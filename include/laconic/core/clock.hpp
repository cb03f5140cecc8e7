// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <concepts>

#include "laconic/core/contract.hpp"

namespace laconic {

/// A clock. Satisfied iff clock() gives the seconds since some fixed moment; a later call gives no less.
template <class C>
concept Clock = requires(C& clock) {
    { clock() } -> std::convertible_to<double>;
};

/// The machine's monotonic clock, which no adjustment of the time of day sets back.
struct monotonic_clock {
    double operator()() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    }
};

}  // namespace laconic
