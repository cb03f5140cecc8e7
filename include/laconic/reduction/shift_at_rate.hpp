// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "laconic/reduction/reduction.hpp"

namespace laconic {

/// A reduction with shifts, for what a shift converges to rather than for the estimate: at the rate alpha, which unless
/// it is given is 1 for a contractive compressor, and 1 / (1 + omega), the largest that theorems allow, for an unbiased
/// one. Throws theory_error for a compressor that is neither.
template <class C, class X = gather_all>
struct shift_at_rate {
    static constexpr bool is_proved = true;

    C compressor;
    std::optional<double> alpha{};
    X over{};

    double rate(std::size_t d) const {
        if (alpha) return *alpha;
        if constexpr (Contractive<C>)
            if (is_contractive(compressor)) return 1;
        if constexpr (Unbiased<C>)
            if (is_unbiased(compressor)) return 1 / (1 + compressor.omega(d));
        throw theory_error(detail::concat({"the compressor ", to_string(compressor),
                                           " is known neither as contractive nor as unbiased; give alpha yourself"}));
    }
    void check_proof(std::size_t d) const { static_cast<void>(rate(d)); }
    template <Scalar T, class B>
    memory<T, B> feedback(std::size_t d) const {
        return {rate(d), 0};
    }
    friend std::string to_string(shift_at_rate const& r) {
        auto const rate = r.alpha ? detail::concat({", alpha=", *r.alpha}) : std::string();
        return detail::concat({"shift_at_rate(", to_string(r.compressor), rate, ", over=", to_string(r.over), ")"});
    }
};

}  // namespace laconic
