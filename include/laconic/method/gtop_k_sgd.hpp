// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "laconic/collective/select/gtop_k.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/core/text.hpp"
#include "laconic/method/ef_sgd.hpp"

namespace laconic {

/// gTop-k SGD (Shi et al., ICDCS 2019): top_k_sgd, but of the ranks' sums, too, only the k numbers of largest magnitude
/// pass each merge of a tree, so that what a rank says and hears goes with k log P instead of k P. What a merge leaves
/// out the merging rank says later, so that x - mean e moves along the mean gradient; as published, who brought a
/// number keeps it only where nothing is applied, and the rest is lost. No theorem gives its step; steps of the order
/// of 1 / L usually work.
struct gtop_k_sgd {
    portion k = 0.01;
    bool as_published = false;
    rates given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        detail::own_step(given, p, "gtop_k_sgd", "no theorem gives its step");
        return detail::compose_ef<T, B>(top_k{k.value}, given, p, "gtop_k_sgd")
            .with_transport(gtop_k{k, as_published ? left_out::as_published : left_out::to_merger});
    }

    bool operator==(gtop_k_sgd const&) const = default;
    friend std::string to_string(gtop_k_sgd const& m) {
        return detail::called("gtop_k_sgd",
                              detail::concat({"k=", to_string(m.k), (m.as_published ? ", as_published=yes" : "")}),
                              m.given);
    }
};

}  // namespace laconic
