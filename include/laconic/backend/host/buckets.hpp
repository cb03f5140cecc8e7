// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "laconic/backend/each_bucket.hpp"
#include "laconic/backend/grid_step.hpp"
#include "laconic/backend/host/impl/fetch.hpp"
#include "laconic/backend/host/memory.hpp"
#include "laconic/backend/host/reduce.hpp"
#include "laconic/backend/host/round.hpp"
#include "laconic/backend/host/round_range.hpp"
#include "laconic/backend/host/rounding_variance.hpp"
#include "laconic/backend/norm.hpp"
#include "laconic/backend/rounding.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/key.hpp"
#include "laconic/core/view.hpp"

/// Values to short codes, with numbers of their own for each bucket of `bucket` >= 1 consecutive values; the last may
/// be shorter. Value i draws chance i of the key. The bools are whether all is finite that each comment names; where
/// it is not, what was written is of no use. A bucket that fits the first cache is read from memory once.
namespace laconic::detail {

constexpr bool one_for_each(std::size_t scales, std::size_t n, std::size_t bucket) {
    return bucket >= 1 && scales == n / bucket + (n % bucket != 0);
}

}  // namespace laconic::detail

namespace laconic::kernels {

/// Each bucket on the grid that its norm spans: steps_b is the grid_step of |bucket|_p for that many levels, 0 where
/// the norm is, and the codes are those of round_to_levels. Finite: norms, and what the highest level stands for.
template <class A, Scalar T, LevelCode Code>
bool round_buckets_to_levels(basic_host<A>& on, std::span<T const> x, std::size_t bucket, p_norm p, int levels,
                             key from, std::span<T> steps, std::span<Code> codes) {
    LACONIC_EXPECTS(codes.size() == x.size() && detail::one_for_each(steps.size(), x.size(), bucket));
    bool finite = true;
    random_windows<A> draws(from, 0, x.size());
    detail::each_bucket(x, bucket, [&](std::size_t b, std::size_t first, std::span<T const> part) {
        auto const out = codes.subspan(first, part.size());
        detail::fetch_next_page(part.data(), part.size_bytes());
        T const step = steps[b] = grid_step(norm_of(on, p, part), levels), top = step * static_cast<T>(levels);
        if (top > 0 && top <= std::numeric_limits<T>::max())  // one branch: two cost a twentieth of all
            round_to_levels(draws, part, step, levels, first, out);
        else {
            std::fill(out.begin(), out.end(), Code{0});
            finite = finite && top == 0;
        }
    });
    return finite;
}

/// Each bucket on halvings of its norm, norms_b = |bucket|_p, by round_to_halvings. Finite: norms.
template <class A, Scalar T>
bool round_buckets_to_halvings(basic_host<A>& on, std::span<T const> x, std::size_t bucket, p_norm p, int levels,
                               key from, std::span<T> norms, std::span<std::int16_t> codes) {
    LACONIC_EXPECTS(codes.size() == x.size() && detail::one_for_each(norms.size(), x.size(), bucket));
    bool finite = true;
    random_windows<A> draws(from, 0, x.size());
    detail::each_bucket(x, bucket, [&](std::size_t b, std::size_t first, std::span<T const> part) {
        detail::fetch_next_page(part.data(), part.size_bytes());
        norms[b] = norm_of(on, p, part);
        finite = finite && std::isfinite(norms[b]);
        if (finite) round_to_halvings(draws, part, norms[b], levels, first, codes.subspan(first, part.size()));
    });
    return finite;
}

/// Each bucket on the grid least_b + {0, .., most} x steps_b from its least to its largest value, by round_to_range or
/// round_to_nearest_in_range. Finite: values, steps, and the end of the grid.
template <class A, Scalar T>
bool round_buckets_to_range(basic_host<A>& on, std::span<T const> x, std::size_t bucket, rounding how, int most,
                            key from, std::span<T> least, std::span<T> steps, std::span<std::uint8_t> codes) {
    LACONIC_EXPECTS(codes.size() == x.size() && detail::one_for_each(least.size(), x.size(), bucket) &&
                    steps.size() == least.size());
    bool finite = true;
    random_windows<A> draws(from, 0, x.size());
    detail::each_bucket(x, bucket, [&](std::size_t b, std::size_t first, std::span<T const> part) {
        if (!finite) return;
        auto const out = codes.subspan(first, part.size());
        auto const range = least_and_largest(on, part);
        least[b] = range.first;
        steps[b] = closing_step(range.second - range.first, most);  // NaN where a value is not finite
        finite = std::isfinite(steps[b]) && std::isfinite(std::fma(static_cast<T>(most), steps[b], least[b]));
        if (!finite) return;
        if (how == rounding::random)
            round_to_range(draws, part, least[b], steps[b], most, first, out);
        else
            round_to_nearest_in_range(on, part, least[b], steps[b], most, out);
    });
    return finite;
}

/// The words of pack_signs, and each bucket's mean magnitude. Finite: means. Where buckets are not whole words of 64
/// signs, x is read twice.
template <class A, Scalar T>
bool pack_signs_and_means(basic_host<A>& on, std::span<T const> x, std::size_t bucket, std::span<T> means,
                          std::span<std::uint64_t> words) {
    LACONIC_EXPECTS(detail::one_for_each(means.size(), x.size(), bucket) && words.size() == (x.size() + 63) / 64);
    bool const whole_words = bucket % 64 == 0 || bucket >= x.size();
    bool finite = true;
    detail::each_bucket(x, bucket, [&](std::size_t b, std::size_t first, std::span<T const> part) {
        double const sum = whole_words
                               ? pack_signs_and_sum(on, part, words.subspan(first / 64, (part.size() + 63) / 64))
                               : sum_of_magnitudes(on, part);
        means[b] = static_cast<T>(sum / static_cast<double>(part.size()));
        finite = finite && std::isfinite(means[b]);
    });
    if (!whole_words) pack_signs(on, x, words);
    return finite;
}

/// The words of pack_signs, and of each bucket the mean magnitude of the negative values and that of the others; 0
/// where there are none. Finite: values, and the sums of either kind. x is read four times.
template <class A, Scalar T>
bool pack_signs_and_two_means(basic_host<A>& on, std::span<T const> x, std::size_t bucket, std::span<T> below,
                              std::span<T> above, std::span<std::uint64_t> words) {
    LACONIC_EXPECTS(detail::one_for_each(below.size(), x.size(), bucket) && above.size() == below.size() &&
                    words.size() == (x.size() + 63) / 64);
    bool finite = first_non_finite(on, x) == x.size();
    if (!finite) return false;
    detail::each_bucket(x, bucket, [&](std::size_t b, std::size_t, std::span<T const> part) {
        auto const sums = sums_by_sign(on, part);
        finite = finite && std::isfinite(sums.first) && std::isfinite(sums.second);
        auto const negative = count_negative(on, part), rest = part.size() - negative;
        below[b] = negative == 0 ? T(0) : static_cast<T>(sums.first / static_cast<double>(negative));
        above[b] = rest == 0 ? T(0) : static_cast<T>(sums.second / static_cast<double>(rest));
    });
    pack_signs(on, x, words);
    return finite;
}

/// steps_b, that of round_buckets_to_levels, times |bucket|^2 / E|what the codes stand for|^2: the factor that makes
/// the error of the bucket least. One more pass.
template <class A, Scalar T>
void damp_steps(basic_host<A>& on, std::span<T const> x, std::size_t bucket, std::span<T> steps) {
    LACONIC_EXPECTS(detail::one_for_each(steps.size(), x.size(), bucket));
    detail::each_bucket(x, bucket, [&](std::size_t b, std::size_t, std::span<T const> part) {
        T& step = steps[b];
        if (!(step > 0)) return;
        double const noise = rounding_variance(on, part, step) / squares_in_units(on, part, step);
        step = static_cast<T>(static_cast<double>(step) / (1 + noise));
    });
}

}  // namespace laconic::kernels
