// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/collective/select/spar_reduce_scatter.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/core/text.hpp"
#include "laconic/method/ef_sgd.hpp"

namespace laconic {

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
        detail::own_step(given, p, "spardl_sgd", "no theorem gives its step");
        return detail::compose_ef<T, B>(top_k{k.value}, given, p, "spardl_sgd")
            .with_over(spar_reduce_scatter{k, as_published});
    }

    bool operator==(spardl_sgd const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("spardl_sgd", "top_k_sgd whose sums are cut to k by a reduce-scatter of blocks",
                 "Zhao et al., ICDE 2024", field("k", &spardl_sgd::k).written_by_name(),
                 field("as_published", &spardl_sgd::as_published), detail::step_field, detail::batch_field);
    }
};

}  // namespace laconic
