// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "laconic/backend/array.hpp"
#include "laconic/core/round_context.hpp"
#include "laconic/feedback/feedback.hpp"
#include "laconic/reduction/caller_vector.hpp"
#include "laconic/reduction/reduction.hpp"

namespace laconic::detail {

/// Tells, before a layer's state changes, whether its estimate can be written.
template <class R, Scalar T, class B>
class writable_estimate {
    using message_type = message_of<decltype(R::compressor), T, B>;

  public:
    /// The first number of the estimate that the feedback and `how` will make of the messages' `mean` whose magnitude
    /// is above `largest` once it is multiplied by `scale`, or that is not finite; the length where there is none.
    /// Cost: none where the scale is 1 and `largest` that of T, as then every number of T can be written; else a pass,
    /// and beside a shift, or for a reduction that finishes the estimate, two more, and memory of as many numbers.
    template <class F>
    std::size_t first_beyond(B& on, R const& how, round_context const& now, int ranks, F const& feedback,
                             std::span<T const> mean, bool in_full, T scale, T largest) {
        if (scale == 1 && largest == std::numeric_limits<T>::max()) return mean.size();
        T const most = largest_before(scale, largest);
        auto const estimate = preview(on, how, now, ranks, feedback, mean, in_full);
        if (largest_magnitude(on, estimate) <= most) return mean.size();
        auto const there = on_host(on, estimate);
        auto const beyond = [&](T v) { return !(std::abs(v) <= most); };
        return static_cast<std::size_t>(std::find_if(there.begin(), there.end(), beyond) - there.begin());
    }

  private:
    template <class F>
    std::span<T const> preview(B& on, [[maybe_unused]] R const& how, round_context const& now,
                               [[maybe_unused]] int ranks, F const& feedback, std::span<T const> mean,
                               [[maybe_unused]] bool in_full) {
        if constexpr (HasShift<F, B> && !FinishesEstimate<R, message_type, T, B>)
            if (feedback.mean_shift().empty()) return mean;
        estimate_.resize(mean.size());
        std::span<T> const estimate(estimate_);
        copy(on, mean, estimate);
        if constexpr (Previews<F, T, B>)
            feedback.preview(on, now, estimate);
        else
            F(feedback).reconstruct(on, now, estimate);
        if constexpr (FinishesEstimate<R, message_type, T, B>)
            if (!in_full) how.finish_estimate(on, ranks, estimate, spare_);
        return estimate;
    }

    typename B::template array<T> estimate_;
    message_type spare_;
};

}  // namespace laconic::detail
