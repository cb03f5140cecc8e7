// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "laconic/backend/device/buckets.hpp"
#include "laconic/backend/device/memory.hpp"
#include "laconic/backend/device/passes.hpp"
#include "laconic/backend/device/reduce.hpp"
#include "laconic/backend/device/sum.hpp"
#include "laconic/backend/norm.hpp"
#include "laconic/backend/scales.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/view.hpp"

/// What is to be known of all buckets, or blocks, on the CPU: what a loop over them would ask for one by one, to the
/// bit, with as many launches however many they are. The results are copies that last until the next one (on_host).
/// Both wait for them.
namespace laconic::kernels {

/// Of the buckets of `bucket` >= 1 numbers, of which the last may be shorter, n in all: |.|_p, then the largest
/// magnitudes, then the sums of squares in units of these, then for each of the grids, which have so many levels to a
/// side, the rounding_variance() of the buckets on it: 3 + levels.size() times n numbers. All x finite.
template <Scalar T>
std::span<double const> facts_of_buckets(device& on, std::span<T const> x, std::size_t bucket, p_norm p,
                                         std::span<int const> levels) {
    using namespace detail::on_device;
    std::size_t const n = buckets_of(x.size(), bucket);
    auto* const norms = on.scratch<T>(scratch_for::counts, 3 * n).data();
    auto *const largest = norms + n, *const steps = largest + n;
    find_norms(on, x, bucket, p, norms);
    find_norms(on, x, bucket, p_norm::largest, largest);
    auto const facts = on.scratch<double>(scratch_for::numbers, (3 + levels.size()) * n);  // free from here on
    double* out = facts.data() + 2 * n;
    if constexpr (sizeof(T) == 8)
        add_buckets_up(on, x, bucket, square_in_steps<T>{largest}, out);
    else
        add_buckets_up(on, x, bucket, square{}, out);
    for_each_index(on, n, [=] LACONIC_DEVICE(std::size_t b) {
        auto const unit = static_cast<double>(largest[b]);
        facts[b] = static_cast<double>(norms[b]);
        facts[n + b] = unit;
        // A sum of squares becomes one in units of the largest, as squares_in_units() has it.
        if (sizeof(T) == 4) out[b] = unit > 0 ? out[b] / product(unit, unit) : 0;
    });
    for (int const each : levels) {
        out += n;
        for_each_index(
            on, n, [=] LACONIC_DEVICE(std::size_t b) { steps[b] = norms[b] > 0 ? grid_step(norms[b], each) : T(0); });
        add_buckets_up(on, x, bucket, variance_in_steps<T>{steps}, out);
    }
    return on_host(on, std::span<double const>(facts));
}

/// The sums of squares in units of `unit` > 0 of the blocks of `block` >= 1 numbers, of which the last may be shorter.
template <Scalar T>
std::span<double const> squares_of_blocks(device& on, std::span<T const> x, std::size_t block, double unit) {
    LACONIC_EXPECTS(unit > 0);
    using namespace detail::on_device;
    auto const sums = on.scratch<double>(scratch_for::numbers, buckets_of(x.size(), block));
    add_buckets_up(on, x, block, square_about{{}, unit, 0}, sums.data());
    return on_host(on, std::span<double const>(sums));
}

}  // namespace laconic::kernels
