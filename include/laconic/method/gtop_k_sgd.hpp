// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/collective/select/gtop_k.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/core/text.hpp"
#include "laconic/method/ef_sgd.hpp"

namespace laconic {

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
        detail::own_step(given, p, "gtop_k_sgd", "no theorem gives its step");
        return detail::compose_ef<T, B>(top_k{k.value}, given, p, "gtop_k_sgd").with_over(gtop_k{k, as_published});
    }

    bool operator==(gtop_k_sgd const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("gtop_k_sgd", "top_k_sgd whose sums are cut to k on their way up a tree", "Shi et al., ICDCS 2019",
                 field("k", &gtop_k_sgd::k).written_by_name(), field("as_published", &gtop_k_sgd::as_published),
                 detail::step_field, detail::batch_field);
    }
};

}  // namespace laconic
