// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "laconic/backend/block_format.hpp"
#include "laconic/backend/device/reduce.hpp"
#include "laconic/backend/device/round.hpp"

/// Vectors in buckets of consecutive numbers, each rounded on a grid of its own; a few launches, however many buckets
/// there are. Contracts stand at the host's forms. What returns a bool waits for it.
namespace laconic::detail::on_device {

// Notes that something is not finite.
struct failures {
    std::uint32_t* noted;
    template <Scalar T>
    LACONIC_HOST_DEVICE void unless_finite(T v) const {
        if (magnitude_bits(v) >= infinite_bits<T>) raise_together(*noted, 1u);
    }
};
inline failures no_failures(device& on) {
    auto* const noted = on.scratch<std::uint32_t>(scratch_for::result, 1).data();
    clear_bytes(on, noted, sizeof *noted);
    return {noted};
}
inline bool is_clean(device& on, failures f) { return fetched(on, f.noted) == 0; }

// As ordered_bits, the lowest inverted: 0 is below all.
template <Scalar T>
struct range_found {
    bits_of<T> lowest = 0, highest = 0;
};

// How many numbers bucket b has.
LACONIC_HOST_DEVICE inline std::size_t numbers_in(std::size_t b, std::size_t bucket, std::size_t n) {
    return n - b * bucket < bucket ? n - b * bucket : bucket;
}
// r (1 - r), where r is the fraction of |v| / step.
LACONIC_HOST_DEVICE inline double variance_on_grid(double v, double step) {
    double const on_grid = std::abs(v) / step, over = on_grid - std::floor(on_grid);
    double const r = over < 1 - over ? over : 1 - over;  // the one that is exact
    return rounded_product(r, 1 - r);
}
struct variance_at : of_all_buckets {
    double step;
    LACONIC_HOST_DEVICE double operator()(double v, std::size_t) const { return variance_on_grid(v, step); }
};
template <Scalar T>
struct variance_in_steps {
    T const* steps;
    LACONIC_HOST_DEVICE bool wanted(std::size_t b) const { return steps[b] > 0; }
    LACONIC_HOST_DEVICE double operator()(double v, std::size_t b) const {
        return variance_on_grid(v, static_cast<double>(steps[b]));
    }
};
template <Scalar T>
struct square_in_steps {
    T const* steps;
    LACONIC_HOST_DEVICE bool wanted(std::size_t b) const { return steps[b] > 0; }
    LACONIC_HOST_DEVICE double operator()(double v, std::size_t b) const {
        double const ratio = v / static_cast<double>(steps[b]);
        return rounded_product(ratio, ratio);
    }
};

}  // namespace laconic::detail::on_device

namespace laconic::kernels {

template <Scalar T, LevelCode Code>
bool round_buckets_to_levels(device& on, std::span<T const> x, std::size_t bucket, p_norm p, int levels, key from,
                             std::span<T> steps, std::span<Code> codes) {
    using namespace detail::on_device;
    LACONIC_EXPECTS(steps.size() == pieces_in(x.size(), bucket) && codes.size() == x.size());
    LACONIC_EXPECTS(levels >= 1 && levels <= most_levels<Code>);
    find_norms(on, x, bucket, p, steps.data());
    auto const failed = no_failures(on);
    for_each_index(on, steps.size(), [=] LACONIC_DEVICE(std::size_t b) {  // norms become steps
        T const scale = steps[b], step = scale > 0 ? grid_step(scale, levels) : T(0);
        failed.unless_finite(scale);
        failed.unless_finite(step * T(levels));
        steps[b] = step;
    });
    round_at_random(on, x, bucket, from, 0, codes.data(), to_levels<T, Code>{steps.data(), levels});
    return is_clean(on, failed);
}

template <Scalar T>
bool round_buckets_to_halvings(device& on, std::span<T const> x, std::size_t bucket, p_norm p, int levels, key from,
                               std::span<T> norms, std::span<std::int16_t> codes) {
    using namespace detail::on_device;
    LACONIC_EXPECTS(norms.size() == pieces_in(x.size(), bucket) && codes.size() == x.size());
    LACONIC_EXPECTS(levels >= 1 && levels <= 32767);
    find_norms(on, x, bucket, p, norms.data());
    auto const failed = no_failures(on);
    for_each_index(on, norms.size(), [=] LACONIC_DEVICE(std::size_t b) { failed.unless_finite(norms[b]); });
    round_at_random(on, x, bucket, from, 0, codes.data(), to_halvings<T>{norms.data(), levels});
    return is_clean(on, failed);
}

template <Scalar T>
bool round_buckets_to_range(device& on, std::span<T const> x, std::size_t bucket, rounding how, int most, key from,
                            std::span<T> least, std::span<T> steps, std::span<std::uint8_t> codes) {
    using namespace detail::on_device;
    std::size_t const buckets = pieces_in(x.size(), bucket);
    LACONIC_EXPECTS(least.size() == buckets && steps.size() == buckets && codes.size() == x.size());
    LACONIC_EXPECTS(most >= 1 && most <= 255);
    auto const bits = on.scratch<bits_of<T>>(scratch_for::marks, 2 * buckets);
    auto *const lowest = bits.data(), *const highest = lowest + buckets;
    clear_bytes(on, bits.data(), bits.size_bytes());
    auto const failed = no_failures(on);
    for_each_index(on, x.size(), [=] LACONIC_DEVICE(std::size_t i) { failed.unless_finite(x[i]); });
    for_each_bucket<range_found<T>>(
        on, x.size(), bucket,
        [=] LACONIC_DEVICE(range_found<T> & found, std::size_t i) {
            auto const here = ordered_bits(x[i]), inverted = static_cast<bits_of<T>>(~here);
            found.highest = found.highest < here ? here : found.highest;
            found.lowest = found.lowest < inverted ? inverted : found.lowest;
        },
        [=] LACONIC_DEVICE(range_found<T> found, std::size_t b) {
            raise_together(highest[b], found.highest);
            raise_together(lowest[b], found.lowest);
        });
    for_each_index(on, buckets, [=] LACONIC_DEVICE(std::size_t b) {
        T const low = from_ordered_bits<T>(static_cast<bits_of<T>>(~lowest[b]));
        T const step = closing_step(from_ordered_bits<T>(highest[b]) - low, most);
        failed.unless_finite(step);
        failed.unless_finite(std::fma(T(most), step, low));
        least[b] = low;
        steps[b] = step;
    });
    to_range<T> const grid{least.data(), steps.data(), most};
    if (how == rounding::random)
        round_at_random(on, x, bucket, from, 0, codes.data(), grid);
    else
        for_each_index(on, x.size(), [=] LACONIC_DEVICE(std::size_t i) {
            auto const to = grid(x[i], i / bucket);
            codes[i] = static_cast<std::uint8_t>(to.fraction < 0x1p31 ? to.below : to.above);
        });
    return is_clean(on, failed);
}

template <Scalar T>
bool round_blocks_to_short(device& on, std::span<T const> x, block_layout f, rounding how, T shared, key from,
                           std::span<T> scales, std::span<std::uint16_t> codes) {
    using namespace detail::on_device;
    LACONIC_EXPECTS(scales.size() == pieces_in(x.size(), f.block) && codes.size() == x.size());
    find_norms(on, x, f.block, p_norm::largest, scales.data());
    auto const failed = no_failures(on);
    bool const up = how == rounding::random;
    T const top = largest_value<T>(f.element);
    for_each_index(on, scales.size(), [=] LACONIC_DEVICE(std::size_t b) {  // norms become scales
        scales[b] = block_scale(scales[b], f, up, shared);
        failed.unless_finite(shared * scales[b] * top);
    });
    to_blocks<T> const round{{f.element}, scales.data(), shared};
    if (up)
        round_at_random(on, x, f.block, from, 0, codes.data(), round);
    else
        for_each_index(on, x.size(), [=] LACONIC_DEVICE(std::size_t i) {
            codes[i] = round.element.nearest(round.quotient(x[i], i / f.block));
        });
    return is_clean(on, failed);
}

template <Scalar T>
bool pack_signs_and_means(device& on, std::span<T const> x, std::size_t bucket, std::span<T> means,
                          std::span<std::uint64_t> words) {
    using namespace detail::on_device;
    LACONIC_EXPECTS(means.size() == pieces_in(x.size(), bucket));
    auto* const sums = on.scratch<double>(scratch_for::numbers, means.size()).data();
    auto const failed = no_failures(on);
    pack_signs(on, x, words);
    add_buckets_up(on, x, bucket, magnitude{}, sums);
    for_each_index(on, means.size(), [=] LACONIC_DEVICE(std::size_t b) {
        means[b] = static_cast<T>(sums[b] / static_cast<double>(numbers_in(b, bucket, x.size())));
        failed.unless_finite(means[b]);
    });
    return is_clean(on, failed);
}

template <Scalar T>
bool pack_signs_and_two_means(device& on, std::span<T const> x, std::size_t bucket, std::span<T> below,
                              std::span<T> above, std::span<std::uint64_t> words) {
    using namespace detail::on_device;
    std::size_t const buckets = pieces_in(x.size(), bucket);
    LACONIC_EXPECTS(below.size() == buckets && above.size() == buckets);
    LACONIC_EXPECTS(std::min(bucket, x.size()) <= std::numeric_limits<std::uint32_t>::max());
    auto* const sums = on.scratch<double>(scratch_for::numbers, 2 * buckets).data();
    auto const negative = on.scratch<std::uint32_t>(scratch_for::marks, buckets);
    clear_bytes(on, negative.data(), negative.size_bytes());
    auto const failed = no_failures(on);
    pack_signs(on, x, words);
    add_buckets_up(on, x, bucket, magnitude_of_sign<true>{}, sums);
    add_buckets_up(on, x, bucket, magnitude_of_sign<false>{}, sums + buckets);
    for_each_bucket<std::uint32_t>(
        on, x.size(), bucket, [=] LACONIC_DEVICE(std::uint32_t & found, std::size_t i) { found += x[i] < 0; },
        [=] LACONIC_DEVICE(std::uint32_t found, std::size_t b) {
            if (found != 0) add_together(negative[b], found);
        });
    for_each_index(on, buckets, [=] LACONIC_DEVICE(std::size_t b) {
        std::size_t const rest = numbers_in(b, bucket, x.size()) - negative[b];
        double const sum_below = sums[b], sum_above = sums[buckets + b];
        failed.unless_finite(sum_below);  // a number that is not finite is in one of the sums
        failed.unless_finite(sum_above);
        below[b] = negative[b] == 0 ? T(0) : static_cast<T>(sum_below / static_cast<double>(negative[b]));
        above[b] = rest == 0 ? T(0) : static_cast<T>(sum_above / static_cast<double>(rest));
    });
    return is_clean(on, failed);
}

template <Scalar T>
void damp_steps(device& on, std::span<T const> x, std::size_t bucket, std::span<T> steps) {
    using namespace detail::on_device;
    LACONIC_EXPECTS(steps.size() == pieces_in(x.size(), bucket));
    auto* const noise = on.scratch<double>(scratch_for::numbers, 2 * steps.size()).data();
    auto* const squares = noise + steps.size();
    add_buckets_up(on, x, bucket, variance_in_steps<T>{steps.data()}, noise);
    if constexpr (sizeof(T) == 8)
        add_buckets_up(on, x, bucket, square_in_steps<T>{steps.data()}, squares);
    else
        add_buckets_up(on, x, bucket, square{}, squares);
    for_each_index(on, steps.size(), [=] LACONIC_DEVICE(std::size_t b) {
        if (!(steps[b] > 0)) return;
        auto const step = static_cast<double>(steps[b]);
        double const in_units = sizeof(T) == 8 ? squares[b] : squares[b] / (step * step);
        steps[b] = static_cast<T>(step / (1 + noise[b] / in_units));
    });
}

/// Waits.
template <Scalar T>
double rounding_variance(device& on, std::span<T const> x, T step) {
    LACONIC_EXPECTS(step > 0);
    return detail::on_device::ordered_sum(on, x, detail::on_device::variance_at{{}, static_cast<double>(step)});
}

// What is to be known of all buckets, or blocks, on the CPU, to the bit what a loop over them would ask for, with as
// many launches however many they are. The results are copies that last until the next one (on_host), and waited for.

/// Of the buckets of `bucket` >= 1 numbers, of which the last may be shorter, n in all: |.|_p, then the largest
/// magnitudes, then the sums of squares in units of these, then for each of the grids, which have so many levels to a
/// side, the rounding_variance() of the buckets on it: 3 + levels.size() times n numbers. All x finite.
template <Scalar T>
std::span<double const> facts_of_buckets(device& on, std::span<T const> x, std::size_t bucket, p_norm p,
                                         std::span<int const> levels) {
    using namespace detail::on_device;
    std::size_t const n = pieces_in(x.size(), bucket);
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
        if (sizeof(T) == 4) out[b] = unit > 0 ? out[b] / rounded_product(unit, unit) : 0;
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
    auto const sums = on.scratch<double>(scratch_for::numbers, pieces_in(x.size(), block));
    add_buckets_up(on, x, block, number_about<true>{{}, unit, 0}, sums.data());
    return on_host(on, std::span<double const>(sums));
}

}  // namespace laconic::kernels
