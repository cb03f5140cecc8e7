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
#include <utility>

#include "laconic/core/term.hpp"
#include "laconic/wire/rice.hpp"
#include "laconic/wire/stream.hpp"
#include "laconic/wire/word_run.hpp"

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
inline constexpr unsigned widest_of_four = word_run::widest / 4;  // as wide as four gaps may be that make one word

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

// Calls f with the gaps of each group of 128, zeros behind the last of a shorter group; with how many it has; and with
// the width of the largest.
template <std::unsigned_integral I, class F>
void each_group(std::span<I const> support, F f) {
    std::array<I, gaps_in_group> gaps;
    for (std::size_t first = 0; first < support.size(); first += gaps_in_group) {
        auto const n = std::min(gaps_in_group, support.size() - first);
        I const* const at = support.data() + first;
        gaps[0] = first == 0 ? at[0] : static_cast<I>(at[0] - at[-1] - 1);
        if (n == gaps_in_group) {  // a length that the compiler knows
            for (std::size_t j = 1; j < gaps_in_group; ++j) gaps[j] = static_cast<I>(at[j] - at[j - 1] - 1);
        } else {
            for (std::size_t j = 1; j < n; ++j) gaps[j] = static_cast<I>(at[j] - at[j - 1] - 1);
            std::fill(gaps.begin() + static_cast<std::ptrdiff_t>(n), gaps.end(), I(0));
        }
        I all = 0;
        for (I const gap : gaps) all |= gap;
        f(std::as_const(gaps), n, static_cast<unsigned>(std::bit_width(all)));
    }
}

// How a support will be written, and in how many bits.
struct support_plan {
    support_code code;
    std::uint64_t bits;
    unsigned gap_parameter = 0, run_parameter = 0;
};

// One pass over the support; one more where it has runs.
template <std::unsigned_integral I>
support_plan plan_support(std::uint64_t length, std::span<I const> support, position_code how) {
    std::uint64_t const count = support.size();
    support_plan best{support_code::raw, count * width_of(length)};
    auto const consider = [&](support_plan const& other) {
        if (other.bits < best.bits) best = other;
    };
    consider({support_code::bitmap, length});
    std::uint64_t packed = 0, runs = support[0] == 0;
    rice_sums rice(length - count, count);
    each_group(support, [&](auto const& gaps, std::size_t n, unsigned width) {
        packed += gap_width_width + n * width;
        if (how == position_code::fastest) return;
        rice.add(gaps);
        I apart = 0;
        for (I const gap : gaps) apart += gap != 0;
        runs += apart;
    });
    consider({support_code::packed, packed});
    if (how == position_code::fastest) return best;

    consider({support_code::rice, rice_parameter_width + rice.bits(), rice.parameter()});
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

// Gaps of `width` bits each, four to a word where they fit.
template <BitSink W, std::unsigned_integral I>
void put_group(W& words, std::span<I const> gaps, unsigned width) {
    std::size_t j = 0;
    if (width <= widest_of_four)
        for (; j + 4 <= gaps.size(); j += 4) {
            std::uint64_t const low = gaps[j] | std::uint64_t{gaps[j + 1]} << width;
            std::uint64_t const high = gaps[j + 2] | std::uint64_t{gaps[j + 3]} << width;
            words.put(low | high << 2 * width, 4 * width);
        }
    for (; j < gaps.size(); ++j) words.put(gaps[j], width);
}

// The coordinates of a Rice code, several at a look, as long as nothing is wrong; next is the least that may come. What
// is left of the support is at least one coordinate, which the caller reads by itself: that tells what is wrong.
template <std::size_t group, BitSource R, std::unsigned_integral I>
void read_rice_groups(R& source, std::uint64_t length, unsigned r, std::span<I>& left, std::uint64_t& next) {
    if (source.left() < 64) return;
    auto const* const bytes = source.bytes().data();
    std::uint64_t at = source.at();
    std::uint64_t const last = at + source.left() - 64;
    std::array<std::uint64_t, group> gaps;
    std::size_t j = 0;
    while (j + group < left.size() && at <= last) {
        std::uint64_t after = at, place = next;
        if (!look_at_rices(bytes, after, r, gaps)) break;
        for (std::size_t l = 0; l < group; ++l) {
            left[j + l] = static_cast<I>(place + gaps[l]);
            place += gaps[l] + 1;
        }
        if (place > length) break;
        next = place;
        at = after;
        j += group;
    }
    source.skip(at - source.at());
    left = left.subspan(j);
}

// As many of them at a look as their 57 bits mostly hold.
template <BitSource R, std::unsigned_integral I>
void read_rices(R& source, std::uint64_t length, unsigned r, std::span<I>& left, std::uint64_t& next) {
    if (r <= 3) return read_rice_groups<8>(source, length, r, left, next);
    if (r <= 10) return read_rice_groups<4>(source, length, r, left, next);
    if (r <= 24) return read_rice_groups<2>(source, length, r, left, next);
}

// The coordinates of a group of gaps, at once; false, and nothing is read, where something is wrong or the end is near.
template <BitSource R, std::unsigned_integral I>
bool read_group(R& source, std::uint64_t length, unsigned width, std::span<I> group, std::uint64_t& next) {
    if (group.size() * width + 64 > source.left()) return false;
    auto const* const bytes = source.bytes().data();
    std::uint64_t const mask = (std::uint64_t{1} << width) - 1;
    std::uint64_t at = source.at(), place = next;
    std::size_t j = 0;
    if (width <= widest_of_four)
        for (; j + 4 <= group.size(); j += 4, at += 4 * width) {
            std::uint64_t const word = load_word(bytes + at / 8) >> at % 8;
            std::uint64_t const one = word & mask, two = one + 1 + (word >> width & mask);
            std::uint64_t const three = two + 1 + (word >> 2 * width & mask);
            std::uint64_t const four = three + 1 + (word >> 3 * width & mask);
            group[j] = static_cast<I>(place + one);
            group[j + 1] = static_cast<I>(place + two);
            group[j + 2] = static_cast<I>(place + three);
            group[j + 3] = static_cast<I>(place + four);
            place += four + 1;
        }
    for (; j < group.size(); ++j, at += width) {
        std::uint64_t const gap = load_word(bytes + at / 8) >> at % 8 & mask;
        group[j] = static_cast<I>(place + gap);
        place += gap + 1;
    }
    if (place > length) return false;
    next = place;
    source.skip(at - source.at());
    return true;
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
            put_words(sink, plan.bits, [&](auto& words) {
                for (I const i : support) words.put(i, width_of(length));
            });
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
            put_words(sink, plan.bits - detail::rice_parameter_width, [&](auto& words) {
                detail::each_gap(support, [&](std::uint64_t gap) { put_rice(words, gap, plan.gap_parameter); });
            });
            break;
        case support_code::packed:
            put_words(sink, plan.bits, [&](auto& words) {
                detail::each_group(support, [&](auto const& gaps, std::size_t n, unsigned width) {
                    words.put(width, detail::gap_width_width);
                    detail::put_group(words, std::span(gaps).first(n), width);
                });
            });
            break;
        case support_code::runs:
            sink.put(plan.gap_parameter, detail::rice_parameter_width);
            sink.put(plan.run_parameter, detail::rice_parameter_width);
            put_words(sink, plan.bits - 2 * detail::rice_parameter_width, [&](auto& words) {
                detail::each_run(support, [&](std::uint64_t gap, std::uint64_t more) {
                    put_rice(words, gap, plan.gap_parameter);
                    put_rice(words, more, plan.run_parameter);
                });
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
                auto const ones = static_cast<std::size_t>(std::popcount(word)), room = support.size() - at;
                if (ones > room)
                    source.refuse("the bitmap has more than " + std::to_string(support.size()) + " bits set");
                auto* to = support.data() + at;
                at += ones;
                auto const take_one = [&] {
                    *to++ = static_cast<I>(first + static_cast<unsigned>(std::countr_zero(word)));
                    word &= word - 1;
                };
                if (room >= 64)  // eight at a time, of which the last may be none
                    while (word != 0)
                        for (int l = 0; l < 8; ++l) take_one();
                while (word != 0) take_one();
            }
            if (at != support.size())
                source.refuse("the bitmap has fewer than " + std::to_string(support.size()) + " bits set");
            break;
        }
        case static_cast<std::uint64_t>(support_code::rice): {
            unsigned const r = take_rice_parameter(source);
            for (auto left = support; !left.empty(); left = left.subspan(1)) {
                detail::read_rices(source, length, r, left, next);
                place(left[0], take_rice(source, length, r));
            }
            break;
        }
        case static_cast<std::uint64_t>(support_code::packed):
            for (std::size_t first = 0; first < support.size(); first += detail::gaps_in_group) {
                auto const width = static_cast<unsigned>(source.take(detail::gap_width_width));
                if (width > width_of(length)) source.refuse("gaps of " + std::to_string(width) + " bits");
                auto const group = support.subspan(first, std::min(detail::gaps_in_group, support.size() - first));
                if (!detail::read_group(source, length, width, group, next))
                    for (I& i : group) place(i, source.take(width));
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
