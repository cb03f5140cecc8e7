// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "laconic/backend/host/round.hpp"

/// Values to short codes, with numbers of their own for each bucket of `bucket` >= 1 consecutive values; the last may
/// be shorter. Value i draws chance first + i of the key. The bools are whether all is finite that each comment names;
/// where it is not, what was written is of no use. A bucket that fits the first cache is read from memory once.
namespace laconic::kernels {

/// Unbiased rounding to the grid least + {0, .., most} x step: codes_i is (x_i - least) / step plus a chance in [0, 1),
/// rounded down, and at most `most`. x_i is, up to rounding, on the grid's range, and not below it; step > 0 unless all
/// are equal; most <= 255. One pass over x, one over the codes.
template <class A, Scalar T>
void round_to_range(random_windows<A>& draws, std::span<T const> x, T least, T step, int most, std::uint64_t first,
                    detail::codes_out<A, std::uint8_t>& codes) {
    LACONIC_EXPECTS(step >= 0 && most >= 1 && most <= 255);
    if (!(step > 0)) return codes.fill(x.size(), 0);
    constexpr auto n = rounded_together;
    auto const exactly = [least, step, most](T v, std::uint32_t chance) {
        T const on_grid = std::min((v - least) / step, T(most)), below = std::floor(on_grid);
        return static_cast<std::uint8_t>(static_cast<int>(below) +
                                         int{detail::goes_up(double(on_grid - below), chance)});
    };
    if constexpr (sizeof(T) == 4 && instruction_set::has_avx2)
        if (detail::near_quotient<T> const q(step, most); q.is_exact) {
            bool const is_far = detail::leaves_caches(x);
            auto const by_products = [=](T const* v, std::uint16_t const* windows, std::uint8_t* out) {
                if (is_far) detail::fetch_ahead<n * sizeof(T)>(v);
                return detail::round_to_grid<A>(instruction_set::chosen{}, v, least, most, q, windows, out);
            };
            return round_at_random(draws, x, first, codes, by_products, exactly);
        }
    auto const together = [least, step, most](T const* v, std::uint16_t const* windows, std::uint8_t* out) {
        std::array<std::int32_t, n> on_grid;  // in steps of 2^-16
        std::array<std::uint8_t, n> made;
        // A quotient of a difference: nothing here can be fused.
        for (std::size_t j = 0; j < n; ++j)
            on_grid[j] = static_cast<std::int32_t>(std::min((v[j] - least) / step, T(most)) * T(0x1p16));
        std::uint16_t open = 0;
        for (std::size_t j = 0; j < n; ++j) {
            std::int32_t const sum = on_grid[j] + windows[j];
            made[j] = static_cast<std::uint8_t>(sum >> 16);
            open |= static_cast<std::uint16_t>(sum) == 0xffff;
        }
        std::copy(made.begin(), made.end(), out);
        return detail::all_bits_if(open != 0);
    };
    round_at_random(draws, x, first, codes, together, exactly);
}

/// The same grid, but to its nearest number, the upper of two that are equally near.
template <class A, Scalar T>
void round_to_nearest_in_range(basic_host<A>&, std::span<T const> x, T least, T step, int most,
                               detail::codes_out<A, std::uint8_t>& codes) {
    LACONIC_EXPECTS(step >= 0 && most >= 1 && most <= 255);
    if (!(step > 0)) return codes.fill(x.size(), 0);
    constexpr auto n = rounded_together;
    // In half steps, rounded down: the odd ones go up.
    auto const exactly = [least, step, most](T v) {
        auto const halves = static_cast<std::int32_t>((v - least) / step * 2);
        return static_cast<std::uint8_t>(std::min((halves + 1) >> 1, most));
    };
    auto const few = [exactly](T const* v, std::uint8_t* out, std::size_t count) {
        std::array<std::uint8_t, n> made;
        for (std::size_t j = 0; j < count; ++j) made[j] = exactly(v[j]);
        std::copy_n(made.begin(), count, out);
    };
    // As at random, with a chance of a half; by products, unless a value lies about in the middle of two.
    bool const is_far = detail::leaves_caches(x);
    auto const many = [=, q = detail::near_quotient<T>(step, most)](T const* v, std::uint8_t* out) {
        if (is_far) detail::fetch_ahead<n * sizeof(T)>(v);
        if constexpr (sizeof(T) == 4 && instruction_set::has_avx2)
            if (q.is_exact) {
                static constexpr auto halves = [] {
                    std::array<std::uint16_t, rounded_together> all{};
                    for (auto& window : all) window = 0x8000;
                    return all;
                }();
                auto open = detail::round_to_grid<A>(instruction_set::chosen{}, v, least, most, q, halves.data(), out);
                for (; open != 0; open &= open - 1) {
                    auto const j = static_cast<std::size_t>(std::countr_zero(open));
                    out[j] = exactly(v[j]);
                }
                return;
            }
        few(v, out, n);
    };
    for (std::size_t i = 0; i < x.size();) {
        std::size_t const some = std::min(codes.most, x.size() - i);
        auto* const out = codes.room();
        std::size_t done = 0;
        for (; done + n <= some; done += n) many(x.data() + i + done, out + done);
        few(x.data() + i + done, out + done, some - done);
        codes.made(some);
        i += some;
    }
}

/// Each bucket on the grid that its norm spans: steps_b is the grid_step of |bucket|_p for that many levels, 0 where
/// the norm is, and the codes are those of round_to_levels. Finite: norms, and what the highest level stands for.
template <class A, Scalar T, LevelCodes Codes>
bool round_buckets_to_levels(basic_host<A>& on, std::span<T const> x, std::size_t bucket, p_norm p, int levels,
                             key from, std::span<T> steps, Codes codes, std::uint64_t first = 0) {
    LACONIC_EXPECTS(have_room(codes, x.size()) && detail::make_pieces(steps.size(), x.size(), bucket));
    bool finite = true;
    random_windows<A> draws(from, first, first + x.size());
    detail::codes_out<A, typename Codes::value_type> out(codes);
    detail::each_bucket(x, bucket, [&](std::size_t b, std::size_t at, std::span<T const> part) {
        detail::fetch_next_page(part.data(), part.size_bytes());
        T const step = steps[b] = grid_step(norm_of(on, p, part), levels), top = step * static_cast<T>(levels);
        if (top > 0 && top <= std::numeric_limits<T>::max())  // one branch: two cost a twentieth of all
            round_to_levels(draws, part, step, levels, first + at, out);
        else {
            out.fill(part.size(), 0);
            finite = finite && top == 0;
        }
    });
    out.finish();
    return finite;
}

/// Each bucket on halvings of its norm, norms_b = |bucket|_p, by round_to_halvings. Finite: norms.
template <class A, Scalar T, CodesOf<std::int16_t> Codes>
bool round_buckets_to_halvings(basic_host<A>& on, std::span<T const> x, std::size_t bucket, p_norm p, int levels,
                               key from, std::span<T> norms, Codes codes, std::uint64_t first = 0) {
    LACONIC_EXPECTS(have_room(codes, x.size()) && detail::make_pieces(norms.size(), x.size(), bucket));
    random_windows<A> draws(from, first, first + x.size());
    detail::codes_out<A, std::int16_t> out(codes);
    bool const finite = detail::each_bucket_is(x, bucket, [&](std::size_t b, std::size_t at, std::span<T const> part) {
        detail::fetch_next_page(part.data(), part.size_bytes());
        norms[b] = norm_of(on, p, part);
        if (!std::isfinite(norms[b])) return false;
        round_to_halvings(draws, part, norms[b], levels, first + at, out);
        return true;
    });
    out.finish();
    return finite;
}

/// Each bucket on the grid least_b + {0, .., most} x steps_b from its least to its largest value, by round_to_range or
/// round_to_nearest_in_range. Finite: values, steps, and the end of the grid.
template <class A, Scalar T, CodesOf<std::uint8_t> Codes>
bool round_buckets_to_range(basic_host<A>& on, std::span<T const> x, std::size_t bucket, rounding how, int most,
                            key from, std::span<T> least, std::span<T> steps, Codes codes, std::uint64_t first = 0) {
    LACONIC_EXPECTS(have_room(codes, x.size()) && detail::make_pieces(least.size(), x.size(), bucket) &&
                    steps.size() == least.size());
    random_windows<A> draws(from, first, first + x.size());
    detail::codes_out<A, std::uint8_t> out(codes);
    bool const finite = detail::each_bucket_is(x, bucket, [&](std::size_t b, std::size_t at, std::span<T const> part) {
        auto const range = least_and_largest(on, part);
        least[b] = range.first;
        steps[b] = closing_step(range.second - range.first, most);  // NaN where a value is not finite
        if (!std::isfinite(steps[b]) || !std::isfinite(std::fma(T(most), steps[b], least[b]))) return false;
        if (how == rounding::random)
            round_to_range(draws, part, least[b], steps[b], most, first + at, out);
        else
            round_to_nearest_in_range(on, part, least[b], steps[b], most, out);
        return true;
    });
    out.finish();
    return finite;
}

/// The words of pack_signs, and each bucket's mean magnitude. Finite: means. x is read twice unless bucket % 64 is 0.
template <class A, Scalar T>
bool pack_signs_and_means(basic_host<A>& on, std::span<T const> x, std::size_t bucket, std::span<T> means,
                          std::span<std::uint64_t> words) {
    LACONIC_EXPECTS(detail::make_pieces(means.size(), x.size(), bucket) &&
                    words.size() == detail::pieces_in(x.size(), 64));
    bool const whole_words = bucket % 64 == 0 || bucket >= x.size();
    bool finite = true;
    detail::each_bucket(x, bucket, [&](std::size_t b, std::size_t first, std::span<T const> part) {
        double const sum =
            whole_words ? pack_signs_and_sum(on, part, words.subspan(first / 64, detail::pieces_in(part.size(), 64)))
                        : sum_of_magnitudes(on, part);
        means[b] = static_cast<T>(sum / static_cast<double>(part.size()));
        finite = finite && std::isfinite(means[b]);
    });
    if (!whole_words) pack_signs(on, x, words);
    return finite;
}

/// The words of pack_signs, and of each bucket the mean magnitude of the negative values and that of the others; 0
/// where there are none. Finite: values, and the sums of either kind. x is read twice unless bucket % 64 is 0.
template <class A, Scalar T>
bool pack_signs_and_two_means(basic_host<A>& on, std::span<T const> x, std::size_t bucket, std::span<T> below,
                              std::span<T> above, std::span<std::uint64_t> words) {
    LACONIC_EXPECTS(detail::make_pieces(below.size(), x.size(), bucket) && above.size() == below.size() &&
                    words.size() == detail::pieces_in(x.size(), 64));
    bool const whole_words = bucket % 64 == 0 || bucket >= x.size();
    bool finite = true;
    detail::each_bucket(x, bucket, [&](std::size_t b, std::size_t first, std::span<T const> part) {
        // A bucket that begins within a word writes where those before it do, until all is written once more.
        auto const sums =
            pack_signs_and_sums(on, part, words.subspan(first / 64).first(detail::pieces_in(part.size(), 64)));
        finite = finite && sums.finite && std::isfinite(sums.below) && std::isfinite(sums.above);
        auto const rest = part.size() - sums.negative;
        below[b] = sums.negative == 0 ? T(0) : static_cast<T>(sums.below / static_cast<double>(sums.negative));
        above[b] = rest == 0 ? T(0) : static_cast<T>(sums.above / static_cast<double>(rest));
    });
    if (!whole_words) pack_signs(on, x, words);
    return finite;
}

/// steps_b, that of round_buckets_to_levels, times |bucket|^2 / E|what the codes stand for|^2: the factor that makes
/// the error of the bucket least. One more pass.
template <class A, Scalar T>
void damp_steps(basic_host<A>& on, std::span<T const> x, std::size_t bucket, std::span<T> steps) {
    LACONIC_EXPECTS(detail::make_pieces(steps.size(), x.size(), bucket));
    detail::each_bucket(x, bucket, [&](std::size_t b, std::size_t, std::span<T const> part) {
        T& step = steps[b];
        if (!(step > 0)) return;
        double const noise = rounding_variance(on, part, step) / squares_in_units(on, part, step);
        step = static_cast<T>(static_cast<double>(step) / (1 + noise));
    });
}

}  // namespace laconic::kernels
