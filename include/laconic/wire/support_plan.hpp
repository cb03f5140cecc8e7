// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "laconic/core/term.hpp"
#include "laconic/wire/rice.hpp"

/// The codes for a set of coordinates, and the choice of a short one. Both ends know the length and the count; a set of
/// none or of all takes no bits, any other takes three bits that name one of the codes below and that code. Lengths up
/// to 2^40.
namespace laconic::wire {

/// The largest length of a vector in the wire format.
inline constexpr std::uint64_t longest_support = std::uint64_t{1} << 40;

/// The codes:
///   raw      every coordinate in width_of(length) bits;
///   bitmap   a bit for each coordinate, the lowest first;
///   rice     the gaps between neighbours (the first: to -1), less one, in a Rice code;
///   packed   the same gaps in groups of 128: six bits give the width of those of the group;
///   runs     the gaps between runs of neighbours and the lengths of the runs, each less one (the first gap: as it is),
///            in two Rice codes.
enum class support_code : std::uint8_t { raw, bitmap, rice, packed, runs };

}  // namespace laconic::wire

namespace laconic::detail {

inline constexpr unsigned support_code_width = 3, gap_width_width = 6;
inline constexpr std::size_t gaps_in_group = 128;

// How many coordinates from the j-th on are neighbours. As they ascend, n of them are where the n-th is n - 1 beyond
// the first: so long runs are found in steps of 64.
template <std::unsigned_integral Index>
std::size_t run_at(std::span<Index const> support, std::size_t j) {
    std::size_t n = 1;
    for (std::size_t const step : {std::size_t{64}, std::size_t{1}})
        while (j + n + step <= support.size() && support[j + n + step - 1] - support[j] == n + step - 1) n += step;
    return n;
}

// Calls f with the gap before each run and the run's length less one; of runs after the first, the gap less one.
template <std::unsigned_integral Index, class F>
void each_run(std::span<Index const> support, F f) {
    std::uint64_t end = 0;
    for (std::size_t j = 0; j < support.size();) {
        std::size_t const n = run_at(support, j);
        f(support[j] - end - (j == 0 ? 0 : 1), n - 1);
        end = std::uint64_t{support[j]} + n;
        j += n;
    }
}

// Calls f with the gaps of each group of 128, zeros behind the last of a shorter group; with their number; and with the
// width of the largest.
template <std::unsigned_integral Index, class F>
void each_group(std::span<Index const> support, F f) {
    std::array<Index, gaps_in_group> gaps;
    for (std::size_t first = 0; first < support.size(); first += gaps_in_group) {
        auto const n = std::min(gaps_in_group, support.size() - first);
        Index const* const at = support.data() + first;
        if (first > 0 && n == gaps_in_group) {  // a length that the compiler knows
            for (std::size_t j = 0; j < gaps_in_group; ++j) gaps[j] = static_cast<Index>(at[j] - *(at + j - 1) - 1);
        } else {
            gaps[0] = static_cast<Index>(first == 0 ? at[0] : at[0] - *(at - 1) - 1);
            for (std::size_t j = 1; j < n; ++j) gaps[j] = static_cast<Index>(at[j] - at[j - 1] - 1);
            std::fill(gaps.begin() + static_cast<std::ptrdiff_t>(n), gaps.end(), Index(0));
        }
        Index all = 0;
        for (Index const gap : gaps) all |= gap;
        f(std::as_const(gaps), n, static_cast<unsigned>(std::bit_width(all)));
    }
}

// The code that a support will be written in, and its bits.
struct support_plan {
    wire::support_code code;
    std::uint64_t bits;
    unsigned gap_parameter = 0, run_parameter = 0;
};

// The shortest code, but that runs are not tried where they are seldom shorter (docs/wire-format.md). One pass over the
// support; another where the Rice code's parameter is far from what suits the mean, and another where
// it has runs.
template <std::unsigned_integral Index>
support_plan plan_support(std::uint64_t length, std::span<Index const> support, position_code how) {
    std::uint64_t const count = support.size();
    support_plan best{wire::support_code::raw, count * width_of(length)};
    auto const consider = [&](support_plan const& other) {
        if (other.bits < best.bits) best = other;
    };
    consider({wire::support_code::bitmap, length});
    std::uint64_t packed = 0, runs = support[0] == 0;
    rice_sums rice(std::uint64_t{support.back()} + 1 - count, count);
    each_group(support, [&](auto const& gaps, std::size_t n, unsigned width) {
        packed += gap_width_width + n * width;
        if (how == position_code::fastest) return;
        rice.add(gaps);
        Index apart = 0;
        for (Index const gap : gaps) apart += gap != 0;
        runs += apart;
    });
    consider({wire::support_code::packed, packed});
    if (how == position_code::fastest) return best;

    auto gap = rice.best();
    if (!rice.is_best_of_all()) {
        rice_counts all(count);
        each_group(support, [&](auto const& gaps, std::size_t, unsigned width) { all.add(gaps, width); });
        gap = all.best();
    }
    consider({wire::support_code::rice, rice_parameter_width + gap.bits, gap.parameter});
    // With runs, a neighbour saves the 1 + r bits of its Rice code, and a run costs about one bit more than a single
    // place; but none where the gap before it is a multiple of 2^r, so that runs may be left out there although they
    // would be shorter.
    if ((count - runs) * (2 + gap.parameter) >= runs) {
        rice_counts before(runs), extra(runs);
        each_run(support, [&](std::uint64_t from_last, std::uint64_t more) {
            before.add(from_last);
            extra.add(more);
        });
        auto const b = before.best(), e = extra.best();
        consider({wire::support_code::runs, 2 * rice_parameter_width + b.bits + e.bits, b.parameter, e.parameter});
    }
    return best;
}

}  // namespace laconic::detail
