// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "laconic/compress/compressor.hpp"
#include "laconic/message/plain.hpp"

namespace laconic {

/// Rounds every value to the nearest number of a short format, and to the even code where two are equally near: 16 or 8
/// bits a value. Values above the largest number of the format become that number, those below half the least one 0, so
/// it has neither omega nor delta. Values that are not finite become NaN, and every reader refuses such a message.
template <kernels::short_format F>
struct short_float {
    static constexpr void description(auto&& describe) {
        describe(name_of(F), "rounding to the nearest number of a short format", "");
    }

    template <Scalar T, class B>
    using message = messages::short_floats<F, T, B>;

    void check(std::size_t) const {}
    /// The largest number of the format.
    static constexpr double largest() {
        return kernels::short_value<double>(kernels::layout_of(F), kernels::layout_of(F).largest());
    }
    void blank(auto&, std::size_t d, key, auto& m) const { messages::begin_message(m, d); }
    void operator()(auto& on, auto x, key from, auto& m) const {
        blank(on, x.size(), from, m);
        round_to_short(on, x, kernels::layout_of(F), std::span(m.codes));
    }

    bool operator==(short_float const&) const = default;
};

/// IEEE half precision: up to 65504 and down to 2^-24, 11 binary digits.
using fp16 = short_float<kernels::short_format::binary16>;
/// bfloat16: the range of a float, 8 binary digits.
using bf16 = short_float<kernels::short_format::bfloat>;
/// 8 bits with 4 of exponent: up to 448 and down to 2^-9, 4 binary digits.
using float8_e4m3 = short_float<kernels::short_format::e4m3>;
/// 8 bits with 5 of exponent: up to 57344 and down to 2^-16, 3 binary digits.
using float8_e5m2 = short_float<kernels::short_format::e5m2>;

}  // namespace laconic
