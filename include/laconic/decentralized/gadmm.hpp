// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "laconic/compress/quantize.hpp"
#include "laconic/decentralized/gadmm_loop.hpp"

namespace laconic {

/// Group ADMM (Elgabli, Park, Bedi, Bennis, Aggarwal, JMLR 21(76), 2020) over a bipartite graph of ranks (GGADMM, Ben
/// Issaid et al., arXiv:2009.06459), without a server. It minimises sum_n f_n(x_n) with x_n = x_m for all neighbours,
/// f_n being the objective of rank n, and so the mean of the ranks' objectives, as descend() does. With the model q_m
/// that all know of rank m, N(n) the neighbours of n, and the dual a_n, all a_n = 0 and q_n = the starting point at
/// first, in each round first the heads, then the tails, with the new q of the heads, do
///     x_n <- argmin f_n(x) + x . (a_n - rho sum_{m in N(n)} q_m) + (rho |N(n)| / 2) |x|^2      by the solver
///     q_n <- q_n + C(x_n - q_n), sent to all neighbours
/// and then all a_n <- a_n + dual_step rho sum_m (q_n - q_m). The sum of the a_n stays 0, whatever the graphs, and a_n
/// goes with its rank to the next graph. rho is in units of f_n: papers take sums over rows, our linear models means.
///
/// C may be any compressor (Q-GADMM: Elgabli et al., ICASSP 2020, arXiv:1910.10453); with `identity` q_n is x_n up to
/// rounding. GADMM converges for convex f_n, any rho > 0, exact solves and dual_step 1; for other C that err little
/// beside the change (Q-GADMM, CQ-GGADMM: unbiased ones whose error shrinks as the change does). A coarse C diverges.
/// With `censor` > 0 a rank sends nothing, and keeps q_n, where |C(x_n - q_n)| < censor censor_decay^k in iteration k,
/// counted from 1 (C-GGADMM; linear rate for strongly convex f_n). With `balance` > 1 rho doubles after a round in
/// which the primal residual is above `balance` times the dual one, and halves where it is the reverse.
///
/// Numbers sent: a round has N transmissions in two slots, each of one message about d numbers. Its errors travel in an
/// all-gather that is empty unless a rank failed (16 bytes a rank with `balance`). A new graph costs each rank with new
/// neighbours one transmission of q_n in full; no messages agree on it, as all of it comes from the seed.
template <class C = identity, class S = exact_minimum>
struct ggadmm {
    C compressor{};
    double rho = 1, dual_step = 1;
    double censor = 0, censor_decay = 0.99;
    double balance = 0;
    topology among{};
    S solver{};

    /// Throws argument_error for parameters out of range and for graphs that are not bipartite; agreement_error on
    /// all ranks where they disagree.
    template <Scalar T, class F, class Comm>
    auto start(problem const&, F const& objective, Comm& comm, std::span<T> x, std::uint64_t seed) const {
        return gadmm_loop<ggadmm, F, Comm, T>(*this, objective, comm, x, seed);
    }
    bool operator==(ggadmm const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("ggadmm", "ADMM among the ranks of a chain or bipartite graph, no server",
                 "Ben Issaid et al., arXiv:2009.06459", field("compressor", &ggadmm::compressor),
                 field("rho", &ggadmm::rho).between(1e-12, 1e12).written().by_name(),
                 field("dual_step", &ggadmm::dual_step).between(1e-12, 1.618).by_name(),
                 field("censor", &ggadmm::censor).between(0, 1e12).by_name(),
                 field("censor_decay", &ggadmm::censor_decay).between(0, 1).by_name(),
                 field("balance", &ggadmm::balance).between(0, 1e12).by_name(),
                 field("solver", &ggadmm::solver).by_name(), detail::refresh_field);
    }
};

/// GADMM over the chain of the ranks in their order, or another graph.
struct gadmm {
    double rho = 1;
    graph over{};

    template <Scalar T, class F, class C>
    auto start(problem const& p, F const& objective, C& comm, std::span<T> x, std::uint64_t seed) const {
        return ggadmm<>{.rho = rho, .among = {.over = over}}.template start<T>(p, objective, comm, x, seed);
    }
    bool operator==(gadmm const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("gadmm", "ADMM among the ranks of a chain, no server", "Elgabli et al., JMLR 21(76), 2020",
                 field("rho", &gadmm::rho).written().by_name());
    }
};

/// D-GADMM: a new chain every `refresh` rounds; see topology.
struct d_gadmm {
    double rho = 1;
    std::uint64_t refresh = 10;
    chain_by chain = chain_by::nearest;

    template <Scalar T, class F, class C>
    auto start(problem const& p, F const& objective, C& comm, std::span<T> x, std::uint64_t seed) const {
        detail::check_fields(*this);
        ggadmm<> const how{.rho = rho, .among = {.refresh = refresh, .chain = chain}};
        return how.template start<T>(p, objective, comm, x, seed);
    }
    bool operator==(d_gadmm const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("d_gadmm", "ADMM among the ranks of chains that change", "Elgabli et al., JMLR 21(76), 2020",
                 field("rho", &d_gadmm::rho).written().by_name(),
                 field("refresh", &d_gadmm::refresh).between(1, 1e9).written().by_name(),
                 field("chain", &d_gadmm::chain).by_name());
    }
};

/// Q-GADMM with random rounding to 2^bits numbers between the least and the largest change. (The paper's grid goes from
/// -R to R, R the largest magnitude, and costs 32 + bits d bits; ours, no wider, sends both ends.)
struct q_gadmm {
    double rho = 1;
    int bits = 8;
    graph over{};

    template <Scalar T, class F, class C>
    auto start(problem const& p, F const& objective, C& comm, std::span<T> x, std::uint64_t seed) const {
        return ggadmm<uniform<>>{.compressor = {bits}, .rho = rho, .among = {.over = over}}.template start<T>(
            p, objective, comm, x, seed);
    }
    bool operator==(q_gadmm const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("q_gadmm", "ADMM among the ranks of a chain, quantized changes", "Elgabli et al., arXiv:1910.10453",
                 field("rho", &q_gadmm::rho).written().by_name(),
                 field("bits", &q_gadmm::bits).between(1, 8).written().by_name());
    }
};

/// SGADMM, for objectives that are not convex or have no Hessian: steps of Adam in place of the minimum, and a damped
/// dual step. No theorem covers it.
inline ggadmm<identity, adam_steps> sgadmm(double rho = 20, double dual_step = 0.01,
                                           adam_steps solver = {10, 1e-3, 100}) {
    return {.rho = rho, .dual_step = dual_step, .solver = solver};
}

}  // namespace laconic
