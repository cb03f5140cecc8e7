// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "laconic/wire/support_plan.hpp"

/// The encoding of a set of coordinates: by one of the codes of wire/support_plan.hpp.
namespace laconic::detail {

inline constexpr unsigned widest_of_four = wire::word_run::widest / 4;  // the widest gaps of which four fit in a word

// Puts gaps of `width` bits each, four to a word where they fit.
template <std::unsigned_integral Index>
void put_group(wire::word_run& run, std::span<Index const> gaps, unsigned width) {
    auto words = run;  // a copy that lives in registers
    std::size_t j = 0;
    if (width <= widest_of_four)
        for (; j + 4 <= gaps.size(); j += 4) {
            std::uint64_t const low = gaps[j] | std::uint64_t{gaps[j + 1]} << width;
            std::uint64_t const high = gaps[j + 2] | std::uint64_t{gaps[j + 3]} << width;
            words.put(low | high << 2 * width, 4 * width);
        }
    for (; j < gaps.size(); ++j) words.put(gaps[j], width);
    run = words;
}

// Reads coordinates in a Rice code of parameter r, `at_a_look` at once, as long as the next 57 bits hold them and all
// are valid; next is the least that may come. It leaves at least one coordinate of the support, which the caller reads
// alone, and so finds what is wrong.
template <std::size_t at_a_look, std::unsigned_integral Index>
void look_at_rices(wire::bit_reader& source, std::uint64_t length, unsigned r, std::span<Index>& left,
                   std::uint64_t& next) {
    if (source.left() < 64) return;
    auto const* const bytes = source.bytes().data();
    std::uint64_t at = source.at();
    std::uint64_t const last = at + source.left() - 64, low = (std::uint64_t{1} << r) - 1;
    std::size_t j = 0;
    while (j + at_a_look < left.size() && at <= last) {
        std::uint64_t zeros = ~(load_word(bytes + at / 8) >> at % 8);  // a one for each zero: the first ends the ones
        std::uint64_t place = next;
        unsigned width = 0;
        // A loop in place: compilers may not inline a function for one code.
        for (std::size_t l = 0; l < at_a_look; ++l) {
            auto const ones = static_cast<unsigned>(std::countr_zero(zeros));
            std::uint64_t const gap = std::uint64_t{ones} << r | (~(zeros >> (ones + 1) % 64) & low);
            left[j + l] = static_cast<Index>(place + gap);
            place += gap + 1;
            zeros >>= (ones + 1 + r) % 64;
            width += ones + 1 + r;
        }
        if (width > 57 || place > length) break;
        next = place;
        at += width;
        j += at_a_look;
    }
    source.skip(at - source.at());
    left = left.subspan(j);
}

// Reads as many of them at once as 57 bits mostly hold.
template <std::unsigned_integral Index>
void read_rices(wire::bit_reader& source, std::uint64_t length, unsigned r, std::span<Index>& left,
                std::uint64_t& next) {
    if (r <= 3) return look_at_rices<8>(source, length, r, left, next);
    if (r <= 10) return look_at_rices<4>(source, length, r, left, next);
    if (r <= 24) return look_at_rices<2>(source, length, r, left, next);
}

// Reads coordinates from gaps of `width` bits from bit `at` on, as many gaps at once as there are l, which the next 57
// bits hold; place is the least that may come.
template <std::unsigned_integral Index, std::size_t... l>
void look_at_gaps(std::byte const* bytes, unsigned width, std::span<Index>& left, std::uint64_t& at,
                  std::uint64_t& place, std::index_sequence<l...>) {
    std::uint64_t const mask = (std::uint64_t{1} << width) - 1;
    std::size_t j = 0;
    for (; j + sizeof...(l) <= left.size(); j += sizeof...(l), at += sizeof...(l) * width) {
        std::uint64_t const word = load_word(bytes + at / 8) >> at % 8;
        std::uint64_t sum = 0;
        (((sum += word >> l * width & mask), (left[j + l] = static_cast<Index>(place + sum)), ++sum), ...);
        place += sum;
    }
    left = left.subspan(j);
}

// Reads the coordinates of a group of gaps at once; false, with nothing read, where one is invalid or the end is near.
template <std::unsigned_integral Index>
bool read_group(wire::bit_reader& source, std::uint64_t length, unsigned width, std::span<Index> group,
                std::uint64_t& next) {
    if (group.size() * width + 64 > source.left()) return false;
    auto const* const bytes = source.bytes().data();
    std::uint64_t at = source.at(), place = next;
    if (width <= 57 / 4)
        look_at_gaps(bytes, width, group, at, place, std::make_index_sequence<4>{});
    else if (width <= 57 / 3)
        look_at_gaps(bytes, width, group, at, place, std::make_index_sequence<3>{});
    look_at_gaps(bytes, width, group, at, place, std::make_index_sequence<1>{});
    if (place > length) return false;
    next = place;
    source.skip(at - source.at());
    return true;
}

}  // namespace laconic::detail

namespace laconic::wire {

/// Writes an ascending support within 0 .. length - 1. Its size is not written.
template <BitSink W, std::unsigned_integral Index>
void write_support(W& sink, std::uint64_t length, std::span<Index const> support) {
    if (support.empty() || support.size() == length) return;
    auto const plan = detail::plan_support(length, support, sink.positions_as());
    sink.charge(message_part::header);
    sink.put(static_cast<std::uint64_t>(plan.code), detail::support_code_width);
    sink.charge(message_part::positions);
    switch (plan.code) {
        case support_code::raw:
            put_words(sink, plan.bits, [&](auto& words) {
                for (Index const i : support) words.put(i, detail::width_of(length));
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
                detail::each_group(support, [&](auto const& gaps, std::size_t n, unsigned width) {
                    detail::put_rices(words, std::span(gaps).first(n), width, plan.gap_parameter);
                });
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

/// Fills `support`, of the count <= length; throws wire_error unless the coordinates ascend within 0 .. length - 1.
template <std::unsigned_integral Index>
void read_support(bit_reader& source, std::uint64_t length, std::span<Index> support) {
    if (support.empty()) return;
    if (support.size() == length) {
        for (std::size_t j = 0; j < support.size(); ++j) support[j] = static_cast<Index>(j);
        return;
    }
    std::uint64_t next = 0;  // the least coordinate that may come
    auto const place = [&](Index& i, std::uint64_t gap) {
        if (gap >= length - next) source.refuse({"coordinate ", next + gap, " of ", length});
        i = static_cast<Index>(next + gap);
        next += gap + 1;
    };
    switch (source.take(detail::support_code_width)) {
        case static_cast<std::uint64_t>(support_code::raw):
            for (Index& i : support) {
                std::uint64_t const at = source.take(detail::width_of(length));
                if (at < next) source.refuse({"coordinate ", at, " does not ascend"});
                place(i, at - next);
            }
            break;
        case static_cast<std::uint64_t>(support_code::bitmap): {
            std::size_t at = 0;
            for (std::uint64_t first = 0; first < length; first += 64) {
                auto word = source.take(static_cast<unsigned>(std::min<std::uint64_t>(64, length - first)));
                auto const ones = static_cast<std::size_t>(std::popcount(word)), room = support.size() - at;
                if (ones > room) source.refuse({"the bitmap has more than ", support.size(), " bits set"});
                auto* to = support.data() + at;
                at += ones;
                auto const take_one = [&] {
                    *to++ = static_cast<Index>(first + static_cast<unsigned>(std::countr_zero(word)));
                    word &= word - 1;
                };
                if (room >= 64)  // eight at a time; those past the last one are overwritten
                    while (word != 0)
                        for (int l = 0; l < 8; ++l) take_one();
                while (word != 0) take_one();
            }
            if (at != support.size()) source.refuse({"the bitmap has fewer than ", support.size(), " bits set"});
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
                if (width > detail::width_of(length)) source.refuse({"gaps of ", width, " bits"});
                auto const group = support.subspan(first, std::min(detail::gaps_in_group, support.size() - first));
                if (!detail::read_group(source, length, width, group, next))
                    for (Index& i : group) place(i, source.take(width));
            }
            break;
        case static_cast<std::uint64_t>(support_code::runs): {
            unsigned const r = take_rice_parameter(source), s = take_rice_parameter(source);
            for (std::size_t j = 0; j < support.size();) {
                std::uint64_t const gap = take_rice(source, length, r) + (j == 0 ? 0 : 1);
                std::uint64_t const more = take_rice(source, support.size(), s);
                if (more >= support.size() - j) source.refuse({"a run beyond the ", support.size(), " coordinates"});
                place(support[j++], gap);
                auto const run = support.subspan(j, static_cast<std::size_t>(std::min(more, length - next)));
                for (std::size_t n = 0; n < run.size(); ++n) run[n] = static_cast<Index>(next + n);
                next += run.size();
                j += run.size();
                if (run.size() < more) place(support[j], 0);  // which refuses: there is no such coordinate
            }
            break;
        }
        default:
            source.refuse("an unknown position code");
    }
}

}  // namespace laconic::wire
