// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "laconic/core/text.hpp"
#include "laconic/message/draw.hpp"
#include "laconic/wire/kind.hpp"
#include "laconic/wire/number.hpp"
#include "laconic/wire/support.hpp"

/// The shape of a message as the self-describing form has it: a list of stages, the outermost first; a stage of parts
/// is followed by the stages of its first part, then those of the second, and so on.
///
/// A kind is described by a struct K beside write_shape:
///   K::number                      the kind;
///   K::next                        whether the shape of another message follows, or of several;
///   K::take<T>(source, s)          reads the parameters that write_shape writes into the stage s, and refuses what is
///                                  outside their ranges;
///   K::unpack<T, B>(reader, s, n, out)   reads the bare form of n numbers, and of the stages inside, where no
///                                  composition is known; see wire/unpack.hpp for what the reader offers.
namespace laconic::wire {

/// The most stages inside each other, and the most in one shape, that a reader accepts.
inline constexpr std::size_t deepest_stage = 32, most_stages = 65536;

/// One stage: its kind and the parameters that this kind has.
struct stage {
    message_kind what{};
    /// Integers, in the order of the wire. For a user's kind: the number of bytes that its parameters take, and the bit
    /// at which they begin.
    std::uint64_t first = 0, second = 0;
    double factor = 1;
    messages::draw drawn{};
    std::uint64_t length = 0;  ///< of a part whose first stage this is
};

/// What follows a stage of some kind in a shape.
enum class follow { nothing, one_shape, a_shape_for_each };

/// The descriptions of some kinds.
template <class... K>
struct kind_list {
    /// Calls f(K{}) for the K of that number; returns whether there is one.
    template <class F>
    static bool visit(message_kind which, F f) {
        return ((K::number == which && (f(K{}), true)) || ...);
    }
    static constexpr bool numbers_differ() {
        message_kind const all[] = {K::number...};
        for (std::size_t i = 0; i < sizeof...(K); ++i)
            for (std::size_t j = 0; j < i; ++j)
                if (all[i] == all[j] || is_user_kind(all[i])) return false;
        return true;
    }
};

/// A description's part, of kinds without parameters.
struct leaf_kind {
    static constexpr follow next = follow::nothing;
    template <Scalar T, BitSource R>
    static void take(R&, stage&) {}
};

/// Reads an integer from `least` to `most`.
template <BitSource R>
std::uint64_t take_between(R& source, std::uint64_t least, std::uint64_t most) {
    auto const n = take_whole(source, most);
    if (n < least) source.refuse(detail::concat({n, " where at least ", least, " must be"}));
    return n;
}

/// How many buckets n numbers fill.
constexpr std::uint64_t buckets_of(std::uint64_t n, std::uint64_t bucket) { return n / bucket + (n % bucket != 0); }

// The parameters of a stage, and what follows it.
template <Scalar T, class Kinds, BitSource R>
std::pair<stage, follow> take_stage(R& source, Kinds) {
    stage s;
    s.what = static_cast<message_kind>(source.take(8));
    auto next = follow::nothing;
    bool const known = Kinds::visit(s.what, [&](auto described) {
        next = decltype(described)::next;
        described.template take<T>(source, s);
    });
    if (known) return {s, next};
    if (!is_user_kind(s.what))
        source.refuse(detail::concat({"an unknown kind of message: ", static_cast<int>(s.what)}));
    s.first = take_whole(source, longest_parameters);
    s.second = source.at();
    for (auto left = s.first; left > 0; --left) source.take(8);
    return {s, next};
}

// Appends the stages from `depth` on to the list; the first of a part gets the part's length.
template <Scalar T, class Kinds, BitSource R, class Spend>
void take_stages(R& source, Kinds kinds, std::size_t depth, std::uint64_t length, std::vector<stage>& stages,
                 Spend& spend) {
    for (auto next = follow::one_shape; next == follow::one_shape; ++depth) {
        if (depth == deepest_stage)
            source.refuse(detail::concat({"more than ", deepest_stage, " stages in each other"}));
        if (stages.size() == most_stages) source.refuse(detail::concat({"more than ", most_stages, " stages"}));
        if (stages.size() == stages.capacity()) {
            auto const capacity = std::max(2 * stages.size(), deepest_stage);
            spend(capacity);
            stages.reserve(capacity);
        }
        stage s;
        std::tie(s, next) = take_stage<T>(source, kinds);
        s.length = length;
        stages.push_back(s);
        if (next != follow::a_shape_for_each) continue;
        for (auto left = s.first; left > 0; --left) {
            auto const part_length = take_whole(source, longest_support);
            take_stages<T>(source, kinds, depth + 1, part_length, stages, spend);
        }
    }
}

/// Reads the shape of a message of T, at least one stage, of the kinds that are given and of users'. Throws wire_error
/// for an unknown kind, for a parameter outside its range, for more than most_stages stages, and for more than
/// deepest_stage inside each other. The parameters of users' kinds are skipped; each stage stores where they are.
/// spend(n) is called before memory for n stages is allocated, and may throw.
template <Scalar T, class... K, BitSource R, class Spend>
std::vector<stage> read_shape(R& source, kind_list<K...> kinds, Spend spend) {
    std::vector<stage> stages;
    take_stages<T>(source, kinds, 0, 0, stages, spend);
    return stages;
}

}  // namespace laconic::wire
