// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "laconic/compress/compressor.hpp"
#include "laconic/message/plain.hpp"

namespace laconic {

/// Rounds randomly to one of the two nearest powers of two: 9 bits for a float, 12 for a double. Unbiased with omega =
/// 1/8, attained at |x| = 4/3 of a power of two (Horvath et al., "Natural compression", MSML 2022, theorem 1). The
/// constant holds for normal numbers up to the largest power of two.
struct natural {
    static constexpr void description(auto&& describe) {
        describe("natural", "random rounding to powers of two; unbiased", "Horvath et al., MSML 2022");
    }

    template <Scalar T, class B>
    using message = messages::powers<T, B>;

    void check(std::size_t) const {}
    template <class B, Scalar T>
    void blank(B&, std::size_t d, key, messages::powers<T, B>& m) const {
        check_dimension(d);
        m.resize(d);
    }
    template <class B, Scalar T>
    void operator()(B& on, std::span<T const> x, key from, messages::powers<T, B>& m) const {
        blank(on, x.size(), from, m);
        round_to_powers(on, x, from, 0, std::span(m.codes));
    }
    double omega(std::size_t) const { return 0.125; }

    bool operator==(natural const&) const = default;
};

}  // namespace laconic
