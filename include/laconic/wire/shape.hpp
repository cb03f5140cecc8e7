// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "laconic/core/text.hpp"
#include "laconic/message/draw.hpp"
#include "laconic/wire/kind.hpp"
#include "laconic/wire/number.hpp"
#include "laconic/wire/support.hpp"

/// The shape of a message as the self-describing form has it: a list of stages, the outermost first; a stage of parts
/// is followed by the stages of its first part, then those of the second, and so on.
namespace laconic {

/// The most stages inside each other, and the most in one shape, that a reader accepts.
inline constexpr std::size_t deepest_stage = 32, most_stages = 65536;

/// One stage: its kind and the parameters that this kind has.
struct stage {
    kind what{};
    /// Integers, in the order of the wire. For a user's kind: the number of bytes that its parameters take, and the bit
    /// at which they begin.
    std::uint64_t first = 0, second = 0;
    double factor = 1;         ///< of `scaled`
    draw drawn{};              ///< of `agreed`
    std::uint64_t length = 0;  ///< of a part whose first stage this is
};

/// Whether another stage follows, with the numbers of this one.
constexpr bool wraps_another(kind k) {
    return k == kind::told || k == kind::counted || k == kind::agreed || k == kind::scaled || k == kind::levelled;
}

namespace detail {

template <BitSource R>
draw take_recipe(R& source) {
    draw d;
    auto const how = source.take(8);
    if (how < 1 || how > 3) source.refuse("a way to draw that there is not");
    d.how = static_cast<draw_method>(how);
    if (d.how == draw_method::exactly) {
        d.count = static_cast<std::size_t>(take_whole(source, longest_support));
    } else {
        d.p = take_magnitude<double>(source, "probability");
        if (!(d.p <= 1)) source.refuse("a probability above 1");
    }
    d.from.bits = source.take(64);
    return d;
}

// The factor of a scaled message of T is a T.
template <Scalar T, BitSource R>
stage take_stage(R& source) {
    stage s;
    s.what = static_cast<kind>(source.take(8));
    auto const whole = [&](std::uint64_t least, std::uint64_t most) {
        auto const n = take_whole(source, most);
        if (n < least) source.refuse(concat({n, " where at least ", least, " must be"}));
        return n;
    };
    switch (s.what) {
        case kind::plain:
        case kind::powers:
        case kind::binary16:
        case kind::bfloat:
        case kind::e4m3:
        case kind::e5m2:
            break;
        case kind::quantized:
        case kind::dithered:
        case kind::stepped:
            s.first = whole(1, s.what == kind::quantized ? 32767 : s.what == kind::dithered ? 1000 : 8);
            s.second = whole(1, longest_support);
            break;
        case kind::low_rank:
        case kind::counted:
            s.first = whole(1, longest_support);
            s.second = whole(0, longest_support);
            break;
        case kind::signs:
        case kind::levelled:
            s.first = whole(0, longest_support);
            break;
        case kind::means:
        case kind::told:
            s.first = whole(1, longest_support);
            break;
        case kind::agreed:
            s.first = whole(1, longest_support);
            s.drawn = take_recipe(source);
            break;
        case kind::parts:
            s.first = whole(0, most_stages);
            break;
        case kind::scaled:
            s.factor = static_cast<double>(take_magnitude<T>(source, "factor"));
            if (!(s.factor <= 1)) source.refuse("a factor above 1");
            break;
        default:
            if (is_user_kind(s.what)) {
                s.first = whole(0, longest_parameters);
                s.second = source.at();
                for (auto left = s.first; left > 0; --left) source.take(8);
                break;
            }
            source.refuse(concat({"a kind of message that there is not: ", static_cast<int>(s.what)}));
    }
    return s;
}

// Appends the stages from `depth` on to the list; the first of a part gets the part's length.
template <Scalar T, BitSource R, class Spend>
void take_stages(R& source, std::size_t depth, std::uint64_t length, std::vector<stage>& stages, Spend& spend) {
    for (bool wraps = true; wraps; ++depth) {
        if (depth == deepest_stage) source.refuse(concat({"more than ", deepest_stage, " stages in each other"}));
        if (stages.size() == most_stages) source.refuse(concat({"more than ", most_stages, " stages"}));
        if (stages.size() == stages.capacity()) {
            auto const capacity = std::max(2 * stages.size(), deepest_stage);
            spend(capacity);
            stages.reserve(capacity);
        }
        stages.push_back(take_stage<T>(source));
        stages.back().length = length;
        wraps = wraps_another(stages.back().what);
        if (stages.back().what != kind::parts) continue;
        for (auto left = stages.back().first; left > 0; --left) {
            auto const part_length = take_whole(source, longest_support);
            take_stages<T>(source, depth + 1, part_length, stages, spend);
        }
    }
}

}  // namespace detail

/// Reads the shape of a message of T, at least one stage. Throws wire_error for an unknown kind, for a parameter
/// outside its range, for more than most_stages stages, and for more than deepest_stage inside each other. The
/// parameters of users' kinds are skipped; each stage stores where they are. spend(n) is called before memory for n
/// stages is allocated, and may throw.
template <Scalar T, BitSource R, class Spend>
std::vector<stage> read_shape(R& source, Spend spend) {
    std::vector<stage> stages;
    detail::take_stages<T>(source, 0, 0, stages, spend);
    return stages;
}
template <Scalar T, BitSource R>
std::vector<stage> read_shape(R& source) {
    return read_shape<T>(source, [](std::size_t) {});
}

}  // namespace laconic
