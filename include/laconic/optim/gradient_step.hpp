// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "laconic/core/text.hpp"
#include "laconic/optim/step.hpp"

namespace laconic {

/// The gradient step x <- x - rate d; rate is the step size.
struct gradient_step {
    double rate = 1;

    template <class B, Scalar T>
    void operator()(B& on, std::span<T> x, std::span<T> d) const {
        add_scaled(on, static_cast<T>(-rate), std::span<T const>(d), x);
    }
    friend std::string to_string(gradient_step s) { return detail::concat({"gradient_step(", s.rate, ")"}); }
};

}  // namespace laconic
