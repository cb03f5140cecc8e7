// SPDX-License-Identifier: Apache-2.0
#pragma once


#include "laconic/compress/top_k.hpp"
#include "laconic/core/text.hpp"
#include "laconic/method/ef_sgd.hpp"

namespace laconic {

/// Top-k SGD with memory (Stich, Cordonnier, Jaggi, NeurIPS 2018; Aji, Heafield, EMNLP 2017): ef_sgd with the k numbers
/// of largest magnitude, a count or a fraction of them, and with ef_sgd's step for delta = k / d.
struct top_k_sgd {
    portion k = 0.01;
    overrides given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        return detail::compose_ef<T, B>(top_k{k.value}, given, p, "top_k_sgd");
    }

    bool operator==(top_k_sgd const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("top_k_sgd", "g scaled by the step, C top_k, alpha 0, decay 1",
                 "Aji, Heafield, EMNLP 2017; Stich, Cordonnier, Jaggi, NeurIPS 2018",
                 field("k", &top_k_sgd::k).written_by_name(), detail::step_field, detail::batch_field);
    }
};

}  // namespace laconic
