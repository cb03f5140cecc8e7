// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/collective/select/gtop_k.hpp"
#include "laconic/collective/select/spar_reduce_scatter.hpp"
#include "laconic/method/ef_sgd.hpp"

/// top_k_sgd whose sums, too, are cut to a few numbers on their way.
namespace laconic {

namespace detail {

template <Scalar T, class B, class M, class X>
auto compose_cut_sums(M const& method, problem const& p, X const& over) {
    theory const of(method, p);
    of.own_step("no theorem gives its step");
    return compose_ef<T, B>(top_k{method.k.value}, of).with_over(over);
}

}  // namespace detail

/// gTop-k SGD (Shi et al., ICDCS 2019): top_k_sgd in which also each merge of a tree passes only the k numbers of
/// largest magnitude of the ranks' sums, so that the numbers that a rank sends and receives grow with k log P instead
/// of k P. The merging rank keeps in its residual what a merge leaves out, so that x - mean e moves along the mean
/// gradient; as published, a rank keeps its own numbers only where nothing is applied, and the rest is lost. No theorem
/// gives its step; steps of the order of 1 / L usually work.
struct gtop_k_sgd {
    portion k = 0.01;
    bool as_published = false;
    overrides given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        return detail::compose_cut_sums<T, B>(*this, p, gtop_k{k, as_published});
    }
    bool operator==(gtop_k_sgd const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("gtop_k_sgd", "top_k_sgd whose sums are cut to k on their way up a tree", "Shi et al., ICDCS 2019",
                 field("k", &gtop_k_sgd::k).written_by_name(), field("as_published", &gtop_k_sgd::as_published),
                 detail::step_field, detail::batch_field);
    }
};

/// SparDL's SGD (Zhao et al., ICDE 2024): top_k_sgd whose sums are made by a reduce-scatter of blocks, in which each
/// step passes ceil(k / P) numbers of each block, and the rank that drops the rest keeps it in its residual. So a rank
/// sends about 2 k numbers, however many ranks there are. The blocks consist of coordinates that are permuted anew in
/// each round; as published they are of neighbours. No theorem gives its step; steps of the order of 1 / L usually
/// work.
struct spardl_sgd {
    portion k = 0.01;
    bool as_published = false;
    overrides given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        return detail::compose_cut_sums<T, B>(*this, p, spar_reduce_scatter{k, as_published});
    }
    bool operator==(spardl_sgd const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("spardl_sgd", "top_k_sgd whose sums are cut to k by a reduce-scatter of blocks",
                 "Zhao et al., ICDE 2024", field("k", &spardl_sgd::k).written_by_name(),
                 field("as_published", &spardl_sgd::as_published), detail::step_field, detail::batch_field);
    }
};

}  // namespace laconic
