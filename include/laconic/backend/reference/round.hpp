// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "laconic/backend/block_format.hpp"
#include "laconic/backend/code_words.hpp"
#include "laconic/backend/reference/arithmetic.hpp"

namespace laconic::kernels {

template <Scalar T, LevelCode Code>
void round_to_levels(reference&, std::span<T const> x, T step, int levels, key from, std::uint64_t first,
                     std::span<Code> codes) {
    for (std::size_t i = 0; i < x.size(); ++i) {
        double const on_grid = std::clamp(x[i] / step, -T(levels), T(levels)), below = std::floor(on_grid);
        bool const up = detail::goes_up(on_grid - below, from.chance(first + i));
        codes[i] = static_cast<Code>(below + (up ? 1 : 0));
    }
}
template <Scalar T>
void round_to_powers(reference&, std::span<T const> x, key from, std::uint64_t first, std::span<std::uint16_t> codes) {
    constexpr int exponent_width = sizeof(T) == 4 ? 8 : 11;
    constexpr int least = std::numeric_limits<T>::min_exponent;  // of the smallest normal number, as frexp counts
    for (std::size_t i = 0; i < x.size(); ++i) {
        std::uint16_t const sign = std::signbit(x[i]) ? 1 << exponent_width : 0;
        codes[i] = static_cast<std::uint16_t>(sign | ((1 << exponent_width) - 1));
        if (!std::isfinite(x[i])) continue;
        // |x| = (1 + m) 2^e, or m 2^e below the smallest normal number; up with probability m.
        int e = least;
        T const mantissa = std::frexp(std::abs(x[i]), &e);
        bool const normal = std::abs(x[i]) >= std::numeric_limits<T>::min();
        double const m =
            normal ? 2 * static_cast<double>(mantissa) - 1 : static_cast<double>(std::ldexp(std::abs(x[i]), 1 - least));
        int field = normal ? e - least + 1 : 0;
        double const fraction = std::floor(m * 0x1p32) * 0x1p-32;
        if (detail::goes_up(fraction, from.chance(first + i)) && field < (1 << exponent_width) - 2) ++field;
        codes[i] = static_cast<std::uint16_t>(sign | field);
    }
}

template <Scalar T>
void round_to_halvings(reference&, std::span<T const> x, T top, int levels, key from, std::uint64_t first,
                       std::span<std::int16_t> codes) {
    int lowest = levels;
    T least = top;
    for (; lowest > 1 && least >= 2 * std::numeric_limits<T>::min(); least /= 2) --lowest;
    for (std::size_t i = 0; i < x.size(); ++i) {
        T const size = std::abs(x[i]);
        int below = 0, above = lowest;
        T low = 0, high = least;
        while (size >= high && above <= levels) below = above++, low = high, high = 2 * low;
        // An upper neighbour above the largest number is not needed: the distance is as large as the lower one.
        T const fraction = (size - low) / (below == 0 ? least : low);
        bool const up = detail::goes_up(fraction, from.chance(first + i));
        int const level = size == 0 ? 0 : up ? above : below;
        codes[i] = static_cast<std::int16_t>(x[i] < 0 ? -level : level);
    }
}
// The last code whose number is at most `size`.
template <Scalar T>
std::uint16_t code_below(short_layout f, T size) {
    std::uint16_t low = 0, end = static_cast<std::uint16_t>(f.largest() + 1);
    while (end - low > 1) {
        auto const middle = static_cast<std::uint16_t>((low + end) / 2);
        (short_value<T>(f, middle) <= size ? low : end) = middle;
    }
    return low;
}
template <Scalar T>
void round_to_short(reference&, std::span<T const> x, short_layout f, std::span<std::uint16_t> codes) {
    for (std::size_t i = 0; i < x.size(); ++i) {
        T const size = std::abs(x[i]);
        auto low = code_below(f, size);
        if (low < f.largest()) {
            auto const high = static_cast<std::uint16_t>(low + 1);
            T const halfway = short_value<T>(f, low) / 2 + short_value<T>(f, high) / 2;  // exact
            if (size > halfway || (size == halfway && low % 2 == 1)) low = high;
        }
        if (!std::isfinite(x[i])) low = f.nan();
        codes[i] = static_cast<std::uint16_t>(std::signbit(x[i]) ? low | f.sign() : low);
    }
}
template <Scalar T>
void round_to_short(reference&, std::span<T const> x, short_layout f, key from, std::uint64_t first,
                    std::span<std::uint16_t> codes) {
    for (std::size_t i = 0; i < x.size(); ++i) {
        T const size = std::abs(x[i]);
        auto code = code_below(f, size);
        if (code < f.largest()) {
            double const low = short_value<double>(f, code),
                         high = short_value<double>(f, static_cast<std::uint16_t>(code + 1));
            if (detail::goes_up((static_cast<double>(size) - low) / (high - low), from.chance(first + i))) ++code;
        }
        if (!std::isfinite(x[i])) code = f.nan();
        codes[i] = static_cast<std::uint16_t>(std::signbit(x[i]) ? code | f.sign() : code);
    }
}
template <Scalar T>
void round_to_range(reference&, std::span<T const> x, T least, T step, int most, key from, std::uint64_t first,
                    std::span<std::uint8_t> codes) {
    for (std::size_t i = 0; i < x.size(); ++i) {
        T whole = 0;
        T const fraction = x[i] == least ? 0 : std::modf((x[i] - least) / step, &whole);
        bool const up = detail::goes_up(fraction, from.chance(first + i));
        codes[i] = static_cast<std::uint8_t>(std::min(whole + (up ? 1 : 0), T(most)));
    }
}
template <Scalar T>
void round_to_nearest_in_range(reference&, std::span<T const> x, T least, T step, int most,
                               std::span<std::uint8_t> codes) {
    for (std::size_t i = 0; i < x.size(); ++i) {
        T whole = 0;
        T const fraction = x[i] == least ? 0 : std::modf((x[i] - least) / step, &whole);
        codes[i] = static_cast<std::uint8_t>(std::min(whole + (fraction < T(0.5) ? 0 : 1), T(most)));
    }
}

template <Scalar T>
void pack_signs(reference&, std::span<T const> x, std::span<std::uint64_t> words) {
    std::fill(words.begin(), words.end(), std::uint64_t{0});
    for (std::size_t j = 0; j < x.size(); ++j)
        if (x[j] < 0) words[j / 64] |= std::uint64_t{1} << j % 64;
}
template <Scalar T>
double pack_signs_and_sum(reference& on, std::span<T const> x, std::span<std::uint64_t> words) {
    pack_signs(on, x, words);
    return sum_of_magnitudes(on, x);
}

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
bool round_blocks_to_short(reference& on, std::span<T const> x, block_layout f, rounding how, T shared, key from,
                           std::span<T> scales, std::span<std::uint16_t> codes, std::uint64_t first = 0) {
    return detail::each_bucket_is(x, f.block, [&](std::size_t b, std::size_t at, std::span<T const> part) {
        scales[b] = block_scale(largest_magnitude(on, part), f, how == rounding::random, shared);
        T const by = shared * scales[b];
        if (!std::isfinite(by * largest_value<T>(f.element))) return false;
        for (std::size_t j = 0; j < part.size(); ++j) {
            T const quotient = by > 0 ? part[j] / by : part[j];
            std::span<T const> const one(&quotient, 1);
            auto const out = codes.subspan(at + j, 1);
            if (how == rounding::random)
                round_to_short(on, one, f.element, from, first + at + j, out);
            else
                round_to_short(on, one, f.element, out);
        }
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

// The same kernels, whose codes go to a stream: all at once.
template <class Code>
void make_at_once(code_stream<Code> to, std::size_t n, auto make) {
    std::vector<Code> codes(n);
    make(std::span<Code>(codes));
    to.take(to.to, codes.data(), n);
}
template <Scalar T>
void round_to_powers(reference& on, std::span<T const> x, key from, std::uint64_t first,
                     code_stream<std::uint16_t> to) {
    make_at_once(to, x.size(), [&](auto codes) { round_to_powers(on, x, from, first, codes); });
}
template <Scalar T>
void round_to_short(reference& on, std::span<T const> x, short_layout f, code_stream<std::uint16_t> to) {
    make_at_once(to, x.size(), [&](auto codes) { round_to_short(on, x, f, codes); });
}
template <Scalar T>
void round_to_short(reference& on, std::span<T const> x, short_layout f, key from, std::uint64_t first,
                    code_stream<std::uint16_t> to) {
    make_at_once(to, x.size(), [&](auto codes) { round_to_short(on, x, f, from, first, codes); });
}
template <Scalar T, LevelCode Code>
bool round_buckets_to_levels(reference& on, std::span<T const> x, std::size_t bucket, p_norm p, int levels, key from,
                             std::span<T> steps, code_stream<Code> to) {
    bool finite = false;
    make_at_once(to, x.size(),
                 [&](auto codes) { finite = round_buckets_to_levels(on, x, bucket, p, levels, from, steps, codes); });
    return finite;
}
template <Scalar T>
bool round_buckets_to_halvings(reference& on, std::span<T const> x, std::size_t bucket, p_norm p, int levels, key from,
                               std::span<T> norms, code_stream<std::int16_t> to) {
    bool finite = false;
    make_at_once(to, x.size(),
                 [&](auto codes) { finite = round_buckets_to_halvings(on, x, bucket, p, levels, from, norms, codes); });
    return finite;
}
template <Scalar T>
bool round_buckets_to_range(reference& on, std::span<T const> x, std::size_t bucket, rounding how, int most, key from,
                            std::span<T> least, std::span<T> steps, code_stream<std::uint8_t> to) {
    bool finite = false;
    make_at_once(to, x.size(), [&](auto codes) {
        finite = round_buckets_to_range(on, x, bucket, how, most, from, least, steps, codes);
    });
    return finite;
}

template <class Code>
bool pack_codes(reference&, std::span<Code const> codes, code_words words, std::span<std::byte> bytes) {
    return detail::pack_one_by_one(codes, words, bytes);
}
template <class Code>
bool unpack_codes(reference&, std::span<std::byte const> bytes, code_words words, std::span<Code> codes) {
    return detail::unpack_one_by_one(bytes, words, codes);
}

}  // namespace laconic::kernels
