// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <concepts>

#include "laconic/core/contract.hpp"

namespace laconic {

/// What measures time. Satisfied iff clock() gives the seconds since some moment, which stays the same; later calls
/// give no less.
template <class C>
concept Clock = requires(C& clock) {
    { clock() } -> std::convertible_to<double>;
};

/// The machine's own, which nobody sets back.
struct monotonic_clock {
    double operator()() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    }
};

}  // namespace laconic
