// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "laconic/compress/identity.hpp"
#include "laconic/reduction/caller_vector.hpp"
#include "laconic/reduction/options.hpp"
#include "laconic/transport/full_mean.hpp"

namespace laconic::detail {

/// The deviation of an estimate from the exact mean, over one or more layers, and the residuals there.
struct deviation {
    double mean_squared = 0, estimate_squared = 0, difference_squared = 0, residual_squared = 0;

    double cosine() const {
        double const both = std::sqrt(mean_squared) * std::sqrt(estimate_squared);
        return both > 0 ? (mean_squared + estimate_squared - difference_squared) / (2 * both) : 0;
    }
    double relative_error() const {
        return mean_squared > 0 ? std::sqrt(difference_squared / mean_squared) : std::sqrt(difference_squared);
    }
    reducer_statistics::probe of_step(std::uint64_t step) const {
        return {step, cosine(), relative_error(), std::sqrt(mean_squared), std::sqrt(residual_squared)};
    }
};

/// The dense mean of the gradients that the ranks' messages compress, to compare an estimate with. Memory: 2 d numbers,
/// from its first use on.
template <Scalar T, class B>
class exact_mean {
  public:
    explicit exact_mean(std::size_t d) : means_({}, d), mean_(d) {}

    /// Gathers the mean of all ranks' scale x, whose numbers are finite; an absent x counts as zeros. Throws
    /// comm_error, and wire_error for bytes that are no message.
    [[gnu::cold, gnu::noinline]] void gather(B& on, Communicator auto& comm, std::uint64_t round, T scale,
                                             caller_vector const& x) {
        round_context now;
        now.round = round;
        std::span<T> const mean(mean_);
        means_(on, comm, now, mean, [&](failure&) {
            if (!x.is_there() || scale == 0) return fill(on, mean, T(0));
            if (auto const numbers = x.as_numbers(mean); numbers.data() != mean.data()) copy(on, numbers, mean);
            if (scale != 1) multiply(on, scale, mean);
        });
    }
    /// Adds the deviation of the estimate to `apart`, and overwrites the mean. Three passes.
    void compare(B& on, std::span<T const> estimate, deviation& apart) {
        std::span<T> const mean(mean_);
        apart.mean_squared += sum_of_squares(on, std::span<T const>(mean));
        apart.estimate_squared += sum_of_squares(on, estimate);
        add_scaled(on, T(-1), estimate, mean);
        apart.difference_squared += sum_of_squares(on, std::span<T const>(mean));
    }

  private:
    full_mean<gather_all, T, B> means_;
    typename B::template array<T> mean_;
};

}  // namespace laconic::detail
