// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "laconic/core/term.hpp"
#include "laconic/wire/rice.hpp"
#include "laconic/wire/stream.hpp"

/// How a set of coordinates is spelled. Both ends know the length and the count; a set of none or of all is not
/// spelled, any other by three bits that name one of the codes below and by that code. Lengths up to 2^40.
namespace laconic {

inline constexpr std::uint64_t longest_support = std::uint64_t{1} << 40;

/// raw      every coordinate in width_of(length) bits;
/// bitmap   a bit for each coordinate, the lowest first;
/// rice     the gaps between neighbours (the first: to -1), less one, in a Rice code;
/// packed   the same gaps in groups of 128: six bits say how wide those of the group are;
/// runs     the gaps between runs of neighbours and the lengths of the runs, each less one (the first gap: as it is),
///          in two Rice codes.
enum class support_code : std::uint8_t { raw, bitmap, rice, packed, runs };

namespace detail {

inline constexpr unsigned support_code_width = 3, gap_width_width = 6;
inline constexpr std::size_t gaps_in_group = 128;

// Calls f with each gap: how many coordinates are left out before the next one.
template <std::unsigned_integral I, class F>
void each_gap(std::span<I const> support, F f) {
    std::uint64_t next = 0;
    for (I const i : support) {
        f(i - next);
        next = std::uint64_t{i} + 1;
    }
}

// Calls f with the gap before each run and the run's length less one; of runs after the first, the gap less one.
template <std::unsigned_integral I, class F>
void each_run(std::span<I const> support, F f) {
    std::uint64_t end = 0;
    for (std::size_t j = 0; j < support.size();) {
        std::size_t n = 1;
        while (j + n < support.size() && support[j + n] == support[j] + n) ++n;
        f(support[j] - end - (j == 0 ? 0 : 1), n - 1);
        end = std::uint64_t{support[j]} + n;
        j += n;
    }
}

// The widths of the groups of a packed code, one after another.
template <std::unsigned_integral I, class F>
void each_group(std::span<I const> support, F f) {
    std::uint64_t next = 0;
    for (std::size_t first = 0; first < support.size(); first += gaps_in_group) {
        auto const group = support.subspan(first, std::min(gaps_in_group, support.size() - first));
        std::uint64_t all = 0;
        auto const start = next;
        for (I const i : group) {
            all |= i - next;
            next = std::uint64_t{i} + 1;
        }
        f(group, start, static_cast<unsigned>(std::bit_width(all)));
    }
}

// How a support will be written, and in how many bits.
struct support_plan {
    support_code code;
    std::uint64_t bits;
    unsigned gap_parameter = 0, run_parameter = 0;
};

template <std::unsigned_integral I>
support_plan plan_support(std::uint64_t length, std::span<I const> support, position_code how) {
    std::uint64_t const count = support.size();
    support_plan best{support_code::raw, count * width_of(length)};
    auto const consider = [&](support_plan const& other) {
        if (other.bits < best.bits) best = other;
    };
    consider({support_code::bitmap, length});
    std::uint64_t packed = 0;
    each_group(support,
               [&](auto group, std::uint64_t, unsigned width) { packed += gap_width_width + group.size() * width; });
    consider({support_code::packed, packed});
    if (how == position_code::fastest) return best;

    rice_sums gaps(length - count, count);
    each_gap(support, [&](std::uint64_t gap) { gaps.add(gap); });
    consider({support_code::rice, rice_parameter_width + gaps.bits(), gaps.parameter()});
    std::uint64_t runs = 0;
    each_run(support, [&](std::uint64_t, std::uint64_t) { ++runs; });
    if (2 * runs <= count) {
        rice_sums before(length - count, runs), extra(count - runs, runs);
        each_run(support, [&](std::uint64_t gap, std::uint64_t more) {
            before.add(gap);
            extra.add(more);
        });
        consider({support_code::runs, 2 * rice_parameter_width + before.bits() + extra.bits(), before.parameter(),
                  extra.parameter()});
    }
    return best;
}

}  // namespace detail

/// Writes an ascending support within 0 .. length - 1.
template <BitSink W, std::unsigned_integral I>
void write_support(W& sink, std::uint64_t length, std::span<I const> support) {
    if (support.empty() || support.size() == length) return;
    auto const plan = detail::plan_support(length, support, asked_of(sink));
    charge(sink, part::header);
    sink.put(static_cast<std::uint64_t>(plan.code), detail::support_code_width);
    charge(sink, part::positions);
    switch (plan.code) {
        case support_code::raw:
            for (I const i : support) sink.put(i, width_of(length));
            break;
        case support_code::bitmap: {
            std::size_t at = 0;
            for (std::uint64_t first = 0; first < length; first += 64) {
                std::uint64_t word = 0;
                for (; at < support.size() && support[at] < first + 64; ++at)
                    word |= std::uint64_t{1} << (support[at] - first);
                sink.put(word, static_cast<unsigned>(std::min<std::uint64_t>(64, length - first)));
            }
            break;
        }
        case support_code::rice:
            sink.put(plan.gap_parameter, detail::rice_parameter_width);
            detail::each_gap(support, [&](std::uint64_t gap) { put_rice(sink, gap, plan.gap_parameter); });
            break;
        case support_code::packed:
            detail::each_group(support, [&](auto group, std::uint64_t next, unsigned width) {
                sink.put(width, detail::gap_width_width);
                for (I const i : group) {
                    sink.put(i - next, width);
                    next = std::uint64_t{i} + 1;
                }
            });
            break;
        case support_code::runs:
            sink.put(plan.gap_parameter, detail::rice_parameter_width);
            sink.put(plan.run_parameter, detail::rice_parameter_width);
            detail::each_run(support, [&](std::uint64_t gap, std::uint64_t more) {
                put_rice(sink, gap, plan.gap_parameter);
                put_rice(sink, more, plan.run_parameter);
            });
            break;
    }
}

/// Fills `support`, whose size is the count, <= length; throws wire_error unless what it reads are coordinates that
/// ascend within 0 .. length - 1.
template <BitSource R, std::unsigned_integral I>
void read_support(R& source, std::uint64_t length, std::span<I> support) {
    if (support.empty()) return;
    if (support.size() == length) {
        for (std::size_t j = 0; j < support.size(); ++j) support[j] = static_cast<I>(j);
        return;
    }
    std::uint64_t next = 0;  // the least coordinate that may come
    auto const place = [&](I& i, std::uint64_t gap) {
        if (gap >= length - next)
            source.refuse("coordinate " + std::to_string(next + gap) + " of " + std::to_string(length));
        i = static_cast<I>(next + gap);
        next += gap + 1;
    };
    switch (source.take(detail::support_code_width)) {
        case static_cast<std::uint64_t>(support_code::raw):
            for (I& i : support) {
                std::uint64_t const at = source.take(width_of(length));
                if (at < next) source.refuse("coordinate " + std::to_string(at) + " does not ascend");
                place(i, at - next);
            }
            break;
        case static_cast<std::uint64_t>(support_code::bitmap): {
            std::size_t at = 0;
            for (std::uint64_t first = 0; first < length; first += 64) {
                auto word = source.take(static_cast<unsigned>(std::min<std::uint64_t>(64, length - first)));
                if (static_cast<std::size_t>(std::popcount(word)) > support.size() - at)
                    source.refuse("the bitmap has more than " + std::to_string(support.size()) + " bits set");
                for (; word != 0; word &= word - 1)
                    support[at++] = static_cast<I>(first + static_cast<unsigned>(std::countr_zero(word)));
            }
            if (at != support.size())
                source.refuse("the bitmap has fewer than " + std::to_string(support.size()) + " bits set");
            break;
        }
        case static_cast<std::uint64_t>(support_code::rice): {
            unsigned const r = take_rice_parameter(source);
            for (I& i : support) place(i, take_rice(source, length, r));
            break;
        }
        case static_cast<std::uint64_t>(support_code::packed):
            for (std::size_t first = 0; first < support.size(); first += detail::gaps_in_group) {
                auto const width = static_cast<unsigned>(source.take(detail::gap_width_width));
                if (width > width_of(length)) source.refuse("gaps of " + std::to_string(width) + " bits");
                for (I& i : support.subspan(first, std::min(detail::gaps_in_group, support.size() - first)))
                    place(i, source.take(width));
            }
            break;
        case static_cast<std::uint64_t>(support_code::runs): {
            unsigned const r = take_rice_parameter(source), s = take_rice_parameter(source);
            for (std::size_t j = 0; j < support.size();) {
                std::uint64_t const gap = take_rice(source, length, r) + (j == 0 ? 0 : 1);
                std::uint64_t const more = take_rice(source, support.size(), s);
                if (more >= support.size() - j)
                    source.refuse("a run beyond the " + std::to_string(support.size()) + " coordinates");
                place(support[j++], gap);
                for (std::uint64_t n = 0; n < more; ++n) place(support[j++], 0);
            }
            break;
        }
        default:
            source.refuse("a code for positions that there is not");
    }
}

}  // namespace laconic
