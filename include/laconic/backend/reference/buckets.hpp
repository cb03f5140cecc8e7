// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "laconic/backend/each_bucket.hpp"
#include "laconic/backend/grid_step.hpp"
#include "laconic/backend/norm.hpp"
#include "laconic/backend/reference/memory.hpp"
#include "laconic/backend/reference/reduce.hpp"
#include "laconic/backend/reference/round.hpp"
#include "laconic/backend/reference/rounding_variance.hpp"
#include "laconic/backend/rounding.hpp"
#include "laconic/core/key.hpp"
#include "laconic/core/view.hpp"

namespace laconic::detail {

// f(b, first, part) of each bucket in turn, until one is false; whether all were true.
template <Scalar T, class F>
bool each_bucket_is(std::span<T const> x, std::size_t bucket, F f) {
    bool all = true;
    each_bucket(x, bucket,
                [&](std::size_t b, std::size_t first, std::span<T const> part) { all = all && f(b, first, part); });
    return all;
}

}  // namespace laconic::detail

namespace laconic::kernels {

template <Scalar T, LevelCode Code>
bool round_buckets_to_levels(reference& on, std::span<T const> x, std::size_t bucket, p_norm p, int levels, key from,
                             std::span<T> steps, std::span<Code> codes) {
    std::fill(codes.begin(), codes.end(), Code{0});
    return detail::each_bucket_is(x, bucket, [&](std::size_t b, std::size_t first, std::span<T const> part) {
        T const scale = norm_of(on, p, part);
        steps[b] = 0;
        if (scale == 0) return true;
        steps[b] = grid_step(scale, levels);
        if (!std::isfinite(scale) || !std::isfinite(steps[b] * T(levels))) return false;
        round_to_levels(on, part, steps[b], levels, from, first, codes.subspan(first, part.size()));
        return true;
    });
}
template <Scalar T>
bool round_buckets_to_halvings(reference& on, std::span<T const> x, std::size_t bucket, p_norm p, int levels, key from,
                               std::span<T> norms, std::span<std::int16_t> codes) {
    return detail::each_bucket_is(x, bucket, [&](std::size_t b, std::size_t first, std::span<T const> part) {
        norms[b] = norm_of(on, p, part);
        if (!std::isfinite(norms[b])) return false;
        round_to_halvings(on, part, norms[b], levels, from, first, codes.subspan(first, part.size()));
        return true;
    });
}
template <Scalar T>
bool round_buckets_to_range(reference& on, std::span<T const> x, std::size_t bucket, rounding how, int most, key from,
                            std::span<T> least, std::span<T> steps, std::span<std::uint8_t> codes) {
    return detail::each_bucket_is(x, bucket, [&](std::size_t b, std::size_t first, std::span<T const> part) {
        auto const range = least_and_largest(on, part);
        least[b] = range.first;
        steps[b] = closing_step(range.second - range.first, most);  // NaN where a value is not finite
        if (!std::isfinite(steps[b]) || !std::isfinite(std::fma(T(most), steps[b], least[b]))) return false;
        auto const out = codes.subspan(first, part.size());
        if (how == rounding::random)
            round_to_range(on, part, least[b], steps[b], most, from, first, out);
        else
            round_to_nearest_in_range(on, part, least[b], steps[b], most, out);
        return true;
    });
}
template <Scalar T>
bool pack_signs_and_means(reference& on, std::span<T const> x, std::size_t bucket, std::span<T> means,
                          std::span<std::uint64_t> words) {
    pack_signs(on, x, words);
    return detail::each_bucket_is(x, bucket, [&](std::size_t b, std::size_t, std::span<T const> part) {
        means[b] = static_cast<T>(sum_of_magnitudes(on, part) / static_cast<double>(part.size()));
        return std::isfinite(means[b]);
    });
}
template <Scalar T>
bool pack_signs_and_two_means(reference& on, std::span<T const> x, std::size_t bucket, std::span<T> below,
                              std::span<T> above, std::span<std::uint64_t> words) {
    pack_signs(on, x, words);
    return detail::each_bucket_is(x, bucket, [&](std::size_t b, std::size_t, std::span<T const> part) {
        if (first_non_finite(on, part) < part.size()) return false;
        auto const sums = sums_by_sign(on, part);
        auto const negative = count_negative(on, part), rest = part.size() - negative;
        below[b] = negative == 0 ? T(0) : static_cast<T>(sums.first / static_cast<double>(negative));
        above[b] = rest == 0 ? T(0) : static_cast<T>(sums.second / static_cast<double>(rest));
        return std::isfinite(sums.first) && std::isfinite(sums.second);
    });
}
template <Scalar T>
void damp_steps(reference& on, std::span<T const> x, std::size_t bucket, std::span<T> steps) {
    detail::each_bucket(x, bucket, [&](std::size_t b, std::size_t, std::span<T const> part) {
        if (steps[b] == 0) return;
        double const noise = rounding_variance(on, part, steps[b]) / squares_in_units(on, part, steps[b]);
        steps[b] = static_cast<T>(static_cast<double>(steps[b]) / (1 + noise));
    });
}

}  // namespace laconic::kernels
