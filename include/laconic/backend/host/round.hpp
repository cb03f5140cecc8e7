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
#include <type_traits>
#include <utility>

#include "laconic/backend/host/reduce.hpp"
#include "laconic/backend/host/round_at_random.hpp"

/// Values to short codes. Element i of a call takes chance first + i of a key, so a vector may be rounded in pieces and
/// gives the same codes. Each is one pass over x and one over the codes.
namespace laconic::kernels {

/// Unbiased rounding to the grid step x {-levels, .., levels}: codes_i is x_i / step plus a chance in [0, 1), rounded
/// down: so the lower or the upper neighbour, the latter with probability equal to the fraction of the way to it (off
/// by at most 2^-32). |x_i| <= levels x step.
template <class A, Scalar T, LevelCode Code>
void round_to_levels(random_windows<A>& draws, std::span<T const> x, T step, int levels, std::uint64_t first,
                     detail::codes_out<A, Code>& codes) {
    LACONIC_EXPECTS(step > 0 && levels >= 1 && levels <= most_levels<Code>);
    constexpr auto n = rounded_together;
    auto const exactly = [step, levels](T v, std::uint32_t chance) {
        double const on_grid = double(std::clamp(v / step, -T(levels), T(levels))), below = std::floor(on_grid);
        return static_cast<Code>(static_cast<int>(below) + int{detail::goes_up(on_grid - below, chance)});
    };
    if constexpr (sizeof(T) == 4 && instruction_set::has_avx2)
        if (detail::near_quotient<T> const q(step, levels); q.is_exact) {
            bool const is_far = detail::leaves_caches(x);
            auto const by_products = [q, levels, is_far](T const* v, std::uint16_t const* windows, Code* out) {
                if (is_far) detail::fetch_ahead<n * sizeof(T)>(v);
                return detail::round_to_grid<A>(instruction_set::chosen{}, v, T(0), levels, q, windows, out);
            };
            return round_at_random(draws, x, first, codes, by_products, exactly);
        }
    auto const together = [=](T const* v, std::uint16_t const* windows, Code* out) {
        std::array<std::int32_t, n> on_grid;  // in steps of 2^-16, of negative numbers at most one too many
        std::array<Code, n> made;
        T const end = T(levels);
        // A quotient, not a product with 1 / step, which would not keep what is on the grid.
        for (std::size_t j = 0; j < n; ++j) {
            T const inside = std::min(std::max(v[j] / step, -end), end);
            on_grid[j] = static_cast<std::int32_t>(inside * T(0x1p16));
        }
        std::uint16_t open = 0;
        for (std::size_t j = 0; j < n; ++j) {
            std::int32_t const sum = on_grid[j] + windows[j];
            made[j] = static_cast<Code>(sum >> 16);
            auto const after = static_cast<std::uint16_t>(static_cast<std::uint16_t>(sum) + 1);
            open |= after < 2;  // ~0, or what is one more where it is one too many
        }
        std::copy(made.begin(), made.end(), out);
        return detail::all_bits_if(open != 0);
    };
    round_at_random(draws, x, first, codes, together, exactly);
}

/// Unbiased rounding to a power of two (natural compression, Horvath et al., MSML 2022): |x| = (1 + m) 2^e becomes
/// 2^(e+1) with probability m, else 2^e. A code is the sign bit above the exponent field of x's own format: 9 bits for
/// float, 12 for double. Below the smallest normal number x becomes that number or 0, still unbiased; above the largest
/// power of two it is rounded down. What is not finite gets an exponent field of ones.
template <class A, Scalar T>
void round_to_powers(basic_host<A>&, std::span<T const> x, key from, std::uint64_t first,
                     detail::codes_out<A, std::uint16_t>& codes) {
    random_windows<A> draws(from, first, first + x.size());
    using bits = detail::bits_of<T>;
    constexpr int mantissa = std::numeric_limits<T>::digits - 1;
    constexpr auto n = rounded_together;
    constexpr std::uint32_t exponents = detail::largest_exponent<T> + 1;
    auto const together = [](T const* v, std::uint16_t const* windows, std::uint16_t* out) {
        detail::fetch_ahead<n * sizeof(T)>(v);
        return detail::round_to_powers_together<A>(instruction_set::chosen{}, v, windows, out);
    };
    auto const exactly = [](T v, std::uint32_t chance) {
        auto const b = std::bit_cast<bits>(v);
        auto const fraction = static_cast<std::uint64_t>(b & ((bits{1} << mantissa) - 1)) << (64 - mantissa);
        auto const below = static_cast<std::uint32_t>(b >> mantissa);
        bool const up = (fraction >> 32) + chance > ~std::uint32_t{0};
        return static_cast<std::uint16_t>(below + (up && (below & exponents) < detail::largest_exponent<T>));
    };
    round_at_random(draws, x, first, codes, together, exactly);
}

template <class A, Scalar T, CodesOf<std::uint16_t> Codes>
void round_to_powers(basic_host<A>& on, std::span<T const> x, key from, std::uint64_t first, Codes codes) {
    LACONIC_EXPECTS(have_room(codes, x.size()));
    // Made faster than memory takes them: what of it is spared, counts.
    detail::codes_out<A, std::uint16_t> out(codes, 2 * x.size() >= detail::bytes_past_caches);
    round_to_powers(on, x, from, first, out);
    out.finish();
}

/// Unbiased rounding to the levels 0 and top x 2^(j - levels), j = 1 .. levels (natural dithering; Horvath et al., MSML
/// 2022): |x_i| becomes one of its two neighbours, the upper one with probability equal to the fraction of the way to
/// it (off by at most 2^-32); codes_i is the j of that level, 0 for 0, with the sign of x_i. Levels below the smallest
/// normal number of T are left out, except for `top` itself, so that all that are used are exact. |x_i| <= top, which
/// is finite.
template <class A, Scalar T>
void round_to_halvings(random_windows<A>& draws, std::span<T const> x, T top, int levels, std::uint64_t first,
                       detail::codes_out<A, std::int16_t>& codes) {
    LACONIC_EXPECTS(top >= 0 && levels >= 1 && levels <= 32767);
    if (!(top > 0)) return codes.fill(x.size(), 0);
    constexpr auto n = rounded_together;
    constexpr int mantissa = std::numeric_limits<T>::digits - 1;
    using bits = std::make_signed_t<detail::bits_of<T>>;
    auto const top_bits = std::bit_cast<bits>(top);
    int const most = std::clamp(static_cast<int>(top_bits >> mantissa) - 1, 0, levels - 1);
    // Normal numbers are halved, exactly, in their exponent field.
    auto const least_bits = static_cast<bits>(top_bits - (static_cast<bits>(most) << mantissa));
    // The level below a value, and the fraction of the way to the next one. All is chosen among whole numbers, which
    // compilers put into vectors.
    auto const place = [top_bits, least_bits, levels](T v) {
        T const size = std::abs(v);
        auto const size_bits = std::bit_cast<bits>(size);
        // As integers, positive numbers lie linear between powers of two: this is log2(top / size), rounded up.
        bits const up = (bits{1} << mantissa) - 1, times = (top_bits - size_bits + up) >> mantissa;
        bits const level_bits = top_bits - (times << mantissa);
        // Below the least level: 0 + size / least.
        bits const none = size_bits < least_bits ? -1 : 0;
        T const level = std::bit_cast<T>(level_bits & ~none);
        T const gap = std::bit_cast<T>((level_bits & ~none) | (least_bits & none));
        return std::pair((static_cast<bits>(levels) - times) & ~none, (size - level) / gap);
    };
    auto const together = [place, levels, most](T const* v, std::uint16_t const* windows, std::int16_t* out) {
        std::array<std::int32_t, n> below, cut;
        std::array<std::int16_t, n> made;
        for (std::size_t j = 0; j < n; ++j) {
            auto const [level, fraction] = place(v[j]);
            below[j] = static_cast<std::int32_t>(level);
            cut[j] = static_cast<std::int32_t>(fraction * T(0x1p16));
        }
        std::int32_t open = 0;
        for (std::size_t j = 0; j < n; ++j) {
            std::int32_t const above = below[j] > 0 ? below[j] + 1 : levels - most;
            std::int32_t const sum = cut[j] + windows[j], level = sum > 0xffff ? above : below[j];
            made[j] = static_cast<std::int16_t>(v[j] < 0 ? -level : level);
            open |= sum == 0xffff;
        }
        std::copy(made.begin(), made.end(), out);
        return detail::all_bits_if(open != 0);
    };
    auto const exactly = [place, levels, most](T v, std::uint32_t chance) {
        auto const [level_below, fraction] = place(v);
        int const below = static_cast<int>(level_below);
        int const level = !detail::goes_up(double(fraction), chance) ? below : below > 0 ? below + 1 : levels - most;
        return static_cast<std::int16_t>(v < 0 ? -level : level);
    };
    round_at_random(draws, x, first, codes, together, exactly);
}

/// Bit j mod 64 of words_{j / 64} is set iff x_j < 0; the other bits of the ceil(x.size() / 64) words are clear.
template <class A, Scalar T>
void pack_signs(basic_host<A>&, std::span<T const> x, std::span<std::uint64_t> words) {
    LACONIC_EXPECTS(detail::make_pieces(words.size(), x.size(), 64));
    using pack = simd::pack<T, A>;
    auto const zero = pack::all(T(0));
    std::size_t w = 0;
    for (; 64 * w + 64 <= x.size(); ++w) {
        std::uint64_t word = 0;
        detail::fetch_ahead<64 * sizeof(T)>(x.data() + 64 * w);
        for (std::size_t j = 0; j < 64; j += pack::width)
            word |= which_below(pack::load(x.data() + 64 * w + j), zero) << j;
        words[w] = word;
    }
    if (w == words.size()) return;
    words[w] = 0;
    for (std::size_t j = 64 * w; j < x.size(); ++j) words[w] |= std::uint64_t{x[j] < 0} << (j % 64);
}

/// The same, and the sum of |x_i| in the order of the other sums: one pass instead of two.
template <class A, Scalar T>
double pack_signs_and_sum(basic_host<A>& on, std::span<T const> x, std::span<std::uint64_t> words) {
    LACONIC_EXPECTS(detail::make_pieces(words.size(), x.size(), 64));
    return detail::sum_in_order(0, x.size(), [&](std::size_t first, std::size_t n) {
        constexpr std::size_t piece = 128;  // of which the second loop finds all in the first cache
        detail::stretch_sum<A, T> sum;
        for (std::size_t i = first; i < first + n; i += piece) {
            auto const part = x.subspan(i, std::min(piece, first + n - i));
            pack_signs(on, part, words.subspan(i / 64, (part.size() + 63) / 64));
            sum.add([](auto& all, auto v) { all += magnitude(v); }, part);
        }
        return sum.total();
    });
}

/// The sums of |x_i| over all x_i < 0, and over the others, how many of the former there are, and whether all are
/// finite.
template <class A>
struct sums_of_signs {
    double below = 0, above = 0;
    std::size_t negative = 0;
    bool finite = true;
    void operator+=(sums_of_signs const& more) {
        below += more.below;
        above += more.above;
        negative += more.negative;
        finite = finite && more.finite;
    }
};

/// The words of pack_signs, and these sums in the order of the others: one pass.
template <class A, Scalar T>
sums_of_signs<A> pack_signs_and_sums(basic_host<A>& on, std::span<T const> x, std::span<std::uint64_t> words) {
    LACONIC_EXPECTS(detail::make_pieces(words.size(), x.size(), 64));
    return detail::sum_in_order(0, x.size(), [&](std::size_t first, std::size_t n) {
        constexpr std::size_t piece = 128;  // of which the loops behind the first find all in the first cache
        detail::stretch_sum<A, T> below, above;
        sums_of_signs<A> sums;
        for (std::size_t i = first; i < first + n; i += piece) {
            auto const part = x.subspan(i, std::min(piece, first + n - i));
            auto const signs = words.subspan(i / 64, (part.size() + 63) / 64);
            pack_signs(on, part, signs);
            for (auto const word : signs) sums.negative += static_cast<std::size_t>(std::popcount(word));
            sums.finite = sums.finite && first_non_finite(on, part) == part.size();
            below.add([](auto& all, auto v) { all += larger(decltype(v)::all(0.0), decltype(v)::all(0.0) - v); }, part);
            above.add([](auto& all, auto v) { all += larger(decltype(v)::all(0.0), v); }, part);
        }
        sums.below = below.total();
        sums.above = above.total();
        return sums;
    });
}

}  // namespace laconic::kernels
