// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "laconic/feedback/stored_residual.hpp"
#include "laconic/reduction/reduction.hpp"

namespace laconic {

/// LoCo (Xie et al., 2024): error feedback whose residual is averaged and stored compressed by S, and begins anew every
/// `reset` steps,
///     delta_i = g_i + e_i,    m_i = C(delta_i),    e_i <- S(beta e_i + (1 - beta) (delta_i - m_i)) .
/// No theorem covers it, as part of what messages leave out is lost: take it as unproved{loco{...}}, where d numbers a
/// rank for the residual are too much. State: what S takes for d numbers, one byte each here:
///
///     reducer reduce(unproved{loco{block_float{block_format::int4}, block_float{block_format::int8}}}, comm, x);
template <class C, class S, class X = gather_all>
struct loco {
    static_assert(detail::require_compressor<C>() && detail::require_compressor<S>());
    static constexpr bool is_proved = false;

    C compressor{};
    S store{};
    double beta = 0.8;
    std::uint64_t reset = 1024;
    X over{};

    static constexpr void description(auto&& describe) {
        describe("loco", "what a message leaves out is averaged, stored compressed, and sent later; C contractive",
                 "Xie et al., 2024", field("compressor", &loco::compressor).needed(),
                 field("store", &loco::store).needed(), field("beta", &loco::beta).between(0, 1).by_name(),
                 field("reset", &loco::reset).between(0, 1e12).by_name(), detail::over_field(&loco::over));
    }
    void check_proof(std::size_t d) const { detail::require_contractive(compressor, d, "loco"); }
    template <Scalar T, class B>
    stored_residual<S, T, B> feedback(std::size_t) const {
        return stored_residual<S, T, B>(store, beta, reset);
    }
    bool operator==(loco const&) const = default;
};
template <class C, class S, class X = gather_all>
loco(C, S, double = 0.8, std::uint64_t = 1024, X = {}) -> loco<C, S, X>;

}  // namespace laconic
