// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "laconic/compress/identity_or.hpp"
#include "laconic/method/overrides.hpp"
#include "laconic/optim/muon.hpp"
#include "laconic/recursion.hpp"

namespace laconic {

namespace detail {

/// A memory whose estimate of the mean gradient, a matrix of `rows` rows, is orthogonalized; messages and shifts are as
/// the memory has them. A server orthogonalizes twice in a round.
template <Scalar T = double, class B = host>
class orthogonalized_memory : public memory<T, B> {
  public:
    orthogonalized_memory(memory<T, B> of, std::size_t rows, orthogonalization by)
        : memory<T, B>(std::move(of)), rows_(rows), by_(by) {}

    /// Throws argument_error where so many numbers are no matrix of so many rows.
    void start(std::size_t dimension) {
        columns_of("orthogonalized_memory", dimension, rows_);
        memory<T, B>::start(dimension);
    }
    void reconstruct(B& on, round_context const& now, std::span<T> mean) {
        memory<T, B>::reconstruct(on, now, mean);
        orthogonalize(on, mean);
    }
    void preview(B& on, round_context const& now, std::span<T> mean) const {
        memory<T, B>::preview(on, now, mean);
        orthogonalize(on, mean);
    }

    friend std::string to_string(orthogonalized_memory const& m) {
        return concat({"orthogonalized(rows=", m.rows_, ", by=", words_of(m.by_)[std::size_t(m.by_)], ") ",
                       to_string(static_cast<memory<T, B> const&>(m))});
    }

  private:
    void orthogonalize(B& on, std::span<T> mean) const { orthogonalize_(on, mean, rows_, by_, tiny); }

    static constexpr auto tiny = static_cast<double>(std::numeric_limits<float>::min());
    std::size_t rows_;
    orthogonalization by_;
    mutable orthogonalizer<T, B> orthogonalize_;  // its arrays
};

}  // namespace detail

/// EF21-Muon (Gruntkowska et al., arXiv:2510.00643), for a matrix X of `rows` rows: ef21_sgdm, whose estimate of the
/// mean gradient is replaced by its polar factor. From v_i = h_i = g_i, sent in full in the first round, on
///     v_i <- (1 - eta) v_i + eta g_i,    h_i <- h_i + C(v_i - h_i),    X <- X - step polar(mean h_i).
/// All steps have the same length, so X ends at a distance from the optimum that is proportional to it. With answers,
/// bidirectional{ef21_muon{...}, C_P, 0, true}, the server keeps X, and the ranks, whose gradients are at W, get W <- W
/// + C_P(X - W). The polar factor is that of the mean: no rank compresses one of its own, as the mean of the ranks'
/// polar factors is another direction, whose differences do not become short. No theorem here gives the step.
template <class C>
struct ef21_muon {
    static_assert(detail::require_compressor<C>());

    C compressor;
    double eta = 0.1;
    std::uint64_t rows = 1;
    orthogonalization by = orthogonalization::polar;
    overrides given{};

    template <Scalar T, class B>
    recursion<identity_or<C>, detail::orthogonalized_memory<T, B>, gradient_step, synchronise,
              local_momentum<mini_batch, T, B>>
    compose(problem const& p) const {
        detail::theory const of(*this, p);
        double const step = of.own_step("no theorem here gives its step");
        return {{compressor},
                {memory<T, B>(1), static_cast<std::size_t>(rows), by},
                {step},
                {0},
                local_momentum<mini_batch, T, B>(1 - eta, given.batch, true)};
    }

    bool operator==(ef21_muon const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("ef21_muon", "g a running mean of mini-batch gradients, C contractive, alpha 1, x by polar factors",
                 "Gruntkowska et al., arXiv:2510.00643", detail::compressor_field,
                 field("eta", &ef21_muon::eta).between(detail::above_0, 1).written_by_name(),
                 field("rows", &ef21_muon::rows).between(1, 0x1p53).written_by_name(),
                 field("by", &ef21_muon::by).by_name(), detail::step_field, detail::batch_field);
    }
};
template <class C>
ef21_muon(C, double = 0.1, std::uint64_t = 1, orthogonalization = orthogonalization::polar, overrides = {})
    -> ef21_muon<C>;

// No proximal operator goes with steps along polar factors.
template <class C, Scalar T, class B, class O, class L, class E, class X, class P>
auto with_prox(recursion<C, detail::orthogonalized_memory<T, B>, O, L, E, X> const& r, P prox) = delete;

}  // namespace laconic
