// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

#include "laconic/compress/signs.hpp"
#include "laconic/core/key.hpp"
#include "laconic/reduction/reduction.hpp"

namespace laconic {

/// Each rank sends the signs of its gradient, a bit a number, and the estimate is 1 where the ranks with a number that
/// is not negative have at least half of the weight, to rounding, and -1 elsewhere (signSGD with majority vote,
/// Bernstein et al., ICML 2018). If ranks may have weights (steps_vary) or lack layers (on_missing_layer::zero), a
/// message has its rank's weight beside the signs, one number: a rank of weight 0, or without the layer, has no vote,
/// and where no rank has one the estimate is 1. The estimate of a dense layer is the mean. State: none.
template <class X = gather_all>
struct majority_vote {
    static constexpr bool is_proved = true;

    vote compressor{};
    X over{};

    static constexpr void description(auto&& describe) {
        describe("majority_vote", "signs; the estimate is their majority", "Bernstein et al., ICML 2018",
                 detail::over_field(&majority_vote::over));
    }
    void check_proof(std::size_t) const {}
    template <Scalar T, class B>
    memory<T, B> feedback(std::size_t) const {
        return {};
    }
    /// Makes the signs count by this weight.
    template <class B, Scalar T>
    void weigh(B& on, T weight, messages::signs<T, B>& m) const {
        m.bucket = std::max<std::size_t>(1, m.count);
        m.scales.resize(m.count > 0 ? 1 : 0);
        if (m.count > 0) copy_from_host(on, std::span<T const>(&weight, 1), std::span<T>(m.scales));
    }
    /// Replaces the mean of `ranks` ranks' signs, whose mean weight is 1, by the majority's. `spare` is workspace.
    template <class B, Scalar T>
    void finish_estimate(B& on, int ranks, std::span<T> mean, messages::signs<T, B>& spare) const {
        T const n = static_cast<T>(ranks), rounding = 2 * n * std::numeric_limits<T>::epsilon();
        soft_threshold(on, std::min(T(0.5) / n, rounding), mean);  // a tie's sum may not be exactly 0
        compressor(on, std::span<T const>(mean), key{}, spare);
        fill(on, mean, T(0));
        add_message(on, mean, T(1), spare);
    }
    bool operator==(majority_vote const&) const = default;
};
majority_vote()->majority_vote<>;
template <class X>
majority_vote(vote, X) -> majority_vote<X>;

}  // namespace laconic
