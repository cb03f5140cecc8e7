// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>

#include "laconic/second_order/fednl_descent.hpp"

namespace laconic {

/// FedNL (Safaryan, Islamov, Qian, Richtarik, ICML 2022): Newton's method on f = mean f_i, strongly convex, whose
/// Hessian all ranks learn from compressed differences. With S_i = C(Hessian of f_i - H_i),
///
///     x <- x - (mean of the H_i, made definite)^-1 grad f(x),    H_i <- H_i + alpha S_i.
///
/// definite_by::projection raises eigenvalues below mu to mu (option 1 of the paper); definite_by::lift adds the mean
/// of |Hessian of f_i - H_i| to all (option 2). Where `fresh`, H_i is here the one with this round's alpha S_i, which
/// is no farther from the Hessian (for unbiased C in expectation); in the paper it is the one before. It converges
/// superlinearly near x*, whatever the condition number. The H_i start as the Hessians at the first x, sent in full, or
/// as zeros; from zeros a projection leaps by up to |grad f| / mu, and may end with divergence_error. With
/// `line_search` (FedNL-LS of the paper, algorithm 3) the step is the first of 1, 1/2, 1/4, .. times the above at which
/// f falls by a quarter of what its slope promises, so that f falls in every round from any x.
///
/// A rank sends in a round S_i, the gradient as the reduction `gradient` has it (the theorem is about gradients in
/// full), and with a lift one number; for each step that a line search tries two numbers; with start_in_full in the
/// first round also d (d + 1) / 2 numbers. The Hessian travels as its lower triangle, scaled so that a compressor sees
/// its Frobenius norm; whole, in d^2 numbers, it suits compressors of matrices: {.compressor = low_rank{d, 1}, .as =
/// symmetric_as::whole}. `over` is the transport of the S_i: gather_all{} or a collective.
template <class C, class G = plain<>, class X = gather_all>
struct fednl {
    static_assert(detail::require_members<C>());
    C compressor{};
    definite_by definite = definite_by::lift;
    double mu = 0;  ///< what a projection raises eigenvalues to; 0: the problem's mu
    std::optional<double> alpha{};
    bool fresh = true;
    bool start_in_full = true;
    bool line_search = false;
    symmetric_as as = symmetric_as::triangle;
    G gradient{};
    X over{};

    /// The loop from x. Throws argument_error for settings outside their ranges, theory_error where mu is neither given
    /// nor known, and what its constructor throws.
    template <Scalar T, class F, Communicator Comm>
    fednl_descent<fednl, F, Comm, T> start(problem const& p, F const& objective, Comm& comm, std::span<T> x,
                                           std::uint64_t seed) const {
        detail::check_fields(*this);
        if (alpha && !(*alpha > 0 && *alpha <= 1))
            throw argument_error({"fednl: alpha = ", *alpha, " is outside (0, 1]"});
        double const raised = mu > 0 ? mu : p.strong_convexity;
        if (definite == definite_by::projection && !(raised > 0))
            throw theory_error(
                "fednl: definite = projection needs mu, which is not known; give the objective strong_convexity(), or "
                "mu, or take definite = lift");
        if constexpr (!std::same_as<decltype(G::compressor), identity>)
            if (line_search) throw theory_error("fednl: a line search needs gradients in full: take gradient = plain");
        return {*this, raised, objective, comm, x, seed};
    }

    bool operator==(fednl const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("fednl", "Newton steps, Hessians learned from compressed differences",
                 "Safaryan, Islamov, Qian, Richtarik, ICML 2022", field("compressor", &fednl::compressor).needed(),
                 field("definite", &fednl::definite).by_name(), field("mu", &fednl::mu).between(0, 1e300).by_name(),
                 field("alpha", &fednl::alpha).between(0, 1).by_name(), field("fresh", &fednl::fresh).by_name(),
                 field("start_in_full", &fednl::start_in_full).by_name(),
                 field("line_search", &fednl::line_search).by_name(), field("as", &fednl::as).by_name(),
                 field("gradient", &fednl::gradient).by_name(), detail::over_field(&fednl::over));
    }
};
template <class C, class... Rest>
fednl(C, Rest...) -> fednl<C>;

}  // namespace laconic
