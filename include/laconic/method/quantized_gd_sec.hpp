// SPDX-License-Identifier: Apache-2.0
#pragma once


#include "laconic/compress/quantize.hpp"
#include "laconic/method/gd_sec.hpp"

namespace laconic {

/// QGD-SEC (Chen, Blum, Takac, Sadler, IEEE JSTSP 2022): gd_sec whose coordinates that pass the threshold are sent
/// through another compressor, a quantizer. Its rounding errors are sent later, with what the threshold held back. No
/// theorem gives its parameters; the defaults are gd_sec's.
template <class C = quantize>
struct quantized_gd_sec {
    static_assert(detail::require_compressor<C>());
    C compressor{};
    double xi = 100;
    overrides given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        return detail::compose_gd_sec<T, B>(compressor, xi, given, p, "quantized_gd_sec");
    }

    bool operator==(quantized_gd_sec const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("quantized_gd_sec", "gd_sec, what passes the threshold compressed by C",
                 "Chen, Blum, Takac, Sadler, IEEE JSTSP 2022",
                 field("compressor", &quantized_gd_sec::compressor).needed(),
                 field("xi", &quantized_gd_sec::xi).written().by_name(), detail::beta_field, detail::step_field,
                 detail::batch_field);
    }
};
template <class C>
quantized_gd_sec(C, double = 100, overrides = {}) -> quantized_gd_sec<C>;

}  // namespace laconic
