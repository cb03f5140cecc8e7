// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "laconic/compress/quantize.hpp"
#include "laconic/core/description.hpp"

namespace laconic {

/// Rounds randomly to 0 and plus or minus the largest magnitude: TernGrad's quantizer.
struct ternary {
    static constexpr quantize inside{1, 0, p_norm::largest};

    static constexpr void description(auto&& describe) {
        describe("ternary", "random rounding to 0 and the largest magnitude; unbiased", "Wen et al., NeurIPS 2017");
    }

    template <Scalar T, class B>
    using message = messages::quantized<T, B>;

    void check(std::size_t d) const { inside.check(d); }
    template <class B, Scalar T>
    void blank(B& on, std::size_t d, key from, messages::quantized<T, B>& m) const {
        inside.blank(on, d, from, m);
    }
    template <class B, Scalar T>
    void operator()(B& on, std::span<T const> x, key from, messages::quantized<T, B>& m) const {
        inside(on, x, from, m);
    }
    double omega(std::size_t d) const { return inside.omega(d); }
    bool operator==(ternary const&) const = default;
};

}  // namespace laconic
