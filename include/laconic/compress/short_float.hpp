// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "laconic/compress/compressor.hpp"
#include "laconic/message/plain.hpp"

namespace laconic {

/// Rounds every value to a number of a short format: 16 or 8 bits a value. Values that are not finite become NaN, and
/// every reader refuses such a message.
///
/// To the nearest number, and to the even code where two are equally near. Values above the largest number of the
/// format become that number, those below half the least one 0, so it has neither omega nor delta.
///
/// At random, the upper neighbour with probability equal to the fraction of the way to it: unbiased. With h =
/// 2^-(digits - 1), omega = h^2 / (4 (1 + h)) where all values are 0 or normal numbers of the format: 1.5e-5 for bf16,
/// 2.4e-7 for fp16. Below the least normal number the error of a value has at most the variance q^2 / 4, where q is the
/// least number: of fp16 2^-24, of bf16 2^-133. Values beyond the largest number are refused.
template <kernels::short_format F, rounding R = rounding::nearest>
struct short_float {
    static constexpr bool is_random = R == rounding::random;
    /// The same format, rounded at random.
    using random = short_float<F, rounding::random>;

    static constexpr void description(auto&& describe) {
        describe(name_of(F),
                 is_random ? "random rounding to numbers of a short format; unbiased"
                           : "rounding to the nearest number of a short format",
                 "", detail::decided_field<is_random>("random"));
    }

    template <Scalar T, class B>
    using message = messages::short_floats<F, T, B>;

    void check(std::size_t) const {}
    /// The largest number of the format.
    static constexpr double largest() {
        return kernels::short_value<double>(kernels::layout_of(F), kernels::layout_of(F).largest());
    }
    void blank(auto&, std::size_t d, key, auto& m) const { messages::begin_message(m, d); }
    /// At random, throws argument_error where a value is beyond largest().
    void operator()(auto& on, auto x, key from, auto& m) const {
        blank(on, x.size(), from, m);
        make_codes(on, x, from, m, std::span(m.codes));
    }
    void make_codes(auto& on, auto x, key from, auto&, auto codes) const {
        if constexpr (is_random) {
            detail::require_up_to_largest(on, *this, x);
            round_to_short(on, x, kernels::layout_of(F), from, 0, codes);
        } else {
            round_to_short(on, x, kernels::layout_of(F), codes);
        }
    }
    double omega(std::size_t) const requires is_random {
        constexpr double h = 1 / static_cast<double>(1 << kernels::layout_of(F).mantissa);
        return h * h / (4 * (1 + h));
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
