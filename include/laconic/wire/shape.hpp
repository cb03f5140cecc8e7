// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "laconic/message/sparse.hpp"
#include "laconic/wire/fixed_width.hpp"
#include "laconic/wire/kind.hpp"
#include "laconic/wire/number.hpp"
#include "laconic/wire/support.hpp"

/// The shape of a message as the self-describing form has it: a list of stages, the outermost first; a stage of parts
/// is followed by the stages of its first part, then those of the second, and so on.
///
/// A kind is described by a struct K, which kind_of<M> names for the messages M of that kind:
/// - K::number is the kind; K::next, whether the shape of another message follows, or of several;
/// - K::put(sink, m) writes the bare form of m; its bits are values unless it charges them otherwise;
/// - K::take(on, source, m) reads it into a blank m; K::take(on, source, m, c), where others are inside m, also takes
///   the compressor that made m blank;
/// - K::put_parameters(sink, m) writes what follows the number in the shape; K::take_parameters<T>(source, s) reads it,
///   except for the shapes inside, into the stage s, and refuses what is outside its range;
/// - K::unpack<T, B>(reader, s, n, out) reads the bare form of n numbers, and of the stages inside, where nothing is
///   known of the composition; see wire/described.hpp for what the reader offers;
/// - K::as_paper(m) is the bits that papers count.
namespace laconic::wire {

/// What reading takes for each number of a message, once its parameters are read. The reader checks n times that
/// against its limits before it makes a message of n numbers.
struct reading_bounds {
    std::uint64_t least_bits = 1;  ///< of the bare form; 0 where numbers may take less than a bit each
    std::uint64_t most_bytes = 0;  ///< of memory that resize() and read() allocate
    std::uint64_t most_steps = 1;  ///< as reading_limits::work counts them; at least 1 is counted
};

/// The most stages inside each other, and the most in one shape, that a reader accepts.
inline constexpr std::size_t deepest_stage = 32, most_stages = 65536;

/// One stage: its kind and the parameters that this kind has.
struct stage {
    message_kind what{};
    /// Integers, in the order of the wire. For a user's kind: how many bytes its parameters take, and their first bit.
    std::uint64_t first = 0, second = 0;
    double factor = 1;
    messages::draw drawn{};
    std::uint64_t length = 0;  ///< of a part whose first stage this is
};

/// What follows a stage of some kind in a shape.
enum class follow { nothing, one_shape, a_shape_for_each };

/// The descriptions of some kinds, whose numbers differ and are no user's.
template <class... K>
struct kind_list {
    /// Calls f(K{}) for the K of that number; returns whether there is one.
    static bool visit(message_kind which, auto f) {
        static_assert(numbers_differ());
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

/// The description of the kind of M, where M is a message of the library.
struct no_kind {};
template <class M>
inline constexpr no_kind kind_of{};
template <class M>
concept HasKind = !std::same_as<std::remove_cvref_t<decltype(kind_of<M>)>, no_kind>;

/// Reads an integer from `least` to `most`.
inline std::uint64_t take_between(bit_reader& source, std::uint64_t least, std::uint64_t most) {
    auto const n = take_whole(source, most);
    if (n < least) source.refuse({n, " where at least ", least, " must be"});
    return n;
}

/// The range of a parameter.
struct whole_range {
    std::uint64_t least, most;
};
inline constexpr whole_range any_length{1, longest_support};

/// The common part of the descriptions K of messages that end a shape. K has also
///   message<T, B>       the message, of which m.resize(n) makes room for n numbers once its parameters are set;
///   parameters(m)       up to two integers of m, of which those of type std::size_t are lengths of buckets; and
///   ranges              their ranges; both absent where there are none;
///   per_number(m)       the reading_bounds of such a message.
template <class K>
struct leaf_kind {
    static constexpr follow next = follow::nothing;
    static constexpr std::array<whole_range, 0> ranges{};
    static std::tuple<> parameters(auto&) { return {}; }

    static void put_parameters(auto& sink, auto const& m) {
        auto const one = [&](auto parameter) {
            if constexpr (std::same_as<decltype(parameter), std::size_t>)
                put_length(sink, parameter, m.dimension());
            else
                put_whole(sink, static_cast<std::uint64_t>(parameter));
        };
        std::apply([&](auto... each) { (one(each), ...); }, K::parameters(m));
    }
    template <Scalar T>
    static void take_parameters(bit_reader& source, stage& s) {
        auto* to = &s.first;
        for (auto const& range : K::ranges)
            *std::exchange(to, &s.second) = take_between(source, range.least, range.most);
    }
    template <Scalar T, class B, class Reader, class Out>
    static void unpack(Reader& reader, stage const& s, std::uint64_t n, Out& out) {
        typename K::template message<T, B> m;
        auto const* from = &s.first;
        std::apply(
            [&](auto&... each) {
                ((each = static_cast<std::remove_reference_t<decltype(each)>>(*std::exchange(from, &s.second))), ...);
            },
            K::parameters(m));
        reader.prepare(n, K::per_number(m));
        m.resize(detail::as_size(n));
        reader.take(m, out);
    }
};

// The parameters of a stage, and what follows it.
template <Scalar T, class Kinds>
std::pair<stage, follow> take_stage(bit_reader& source, Kinds) {
    stage s;
    s.what = static_cast<message_kind>(source.take(8));
    auto next = follow::nothing;
    bool const known = Kinds::visit(s.what, [&](auto described) {
        next = decltype(described)::next;
        described.template take_parameters<T>(source, s);
    });
    if (known) return {s, next};
    if (!is_user_kind(s.what)) source.refuse({"an unknown kind of message: ", static_cast<int>(s.what)});
    s.first = take_whole(source, longest_parameters);
    s.second = source.at();
    for (auto left = s.first; left > 0; --left) source.take(8);
    return {s, next};
}

// Appends the stages from `depth` on to the list; the first of a part gets the part's length.
template <Scalar T, class Kinds, class Spend>
void take_stages(bit_reader& source, Kinds kinds, std::size_t depth, std::uint64_t length, std::vector<stage>& stages,
                 Spend& spend) {
    for (auto next = follow::one_shape; next == follow::one_shape; ++depth) {
        if (depth == deepest_stage) source.refuse({"more than ", deepest_stage, " stages in each other"});
        if (stages.size() == most_stages) source.refuse({"more than ", most_stages, " stages"});
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
template <Scalar T, class... K, class Spend>
std::vector<stage> read_shape(bit_reader& source, kind_list<K...> kinds, Spend spend) {
    std::vector<stage> stages;
    take_stages<T>(source, kinds, 0, 0, stages, spend);
    return stages;
}

/// Writes the message that c makes of x, as c(on, x, from, m) and write(sink, m) do; m is of no use then. Where its
/// kind has put_made(on, sink, c, x, from, m), codes are packed as they are made. Throws argument_error where a number
/// is not finite, and what c throws; then sink has more bits than before.
template <OnHost B, class C, Scalar T, class M>
void compress_and_write(B& on, bit_writer& sink, C const& c, std::span<T const> x, key from, M& m) {
    auto const require_finite = [&] {
        if (auto const i = first_non_finite(on, x); i < x.size())
            throw argument_error({"coordinate ", i, " is not finite"});
    };
    if constexpr (requires { c.compress_and_write(on, sink, x, from, m); })
        return c.compress_and_write(on, sink, x, from, m);
    auto const in_parts = [&] {  // whose codes several threads make
        if constexpr (requires { on.splits(x.size()); }) return on.splits(x.size());
        return false;
    };
    try {
        if constexpr (requires { kind_of<M>.put_made(on, sink, c, x, from, m); })
            if (sink.bits() % 8 == 0 && !in_parts() && kind_of<M>.put_made(on, sink, c, x, from, m)) return;
        if constexpr (!requires { C::refuses_non_finite; }) require_finite();
        c(on, x, from, m);
    } catch (argument_error const&) {
        require_finite();  // to say where
        throw;
    }
    if constexpr (requires { bits_as_paper(m); })  // about what comes, so that less is copied as the sink grows
        sink.reserve(detail::as_size(sink.bits() / 8) + static_cast<std::size_t>(bits_as_paper(m) / 7) + 64);
    write(sink, m);
}

/// Reads into m, which c has made blank. A compressor whose messages are made by another one has
/// c.read_message(on, source, m), which calls read(on, source, m, other).
template <class B, class M, class C>
void read(B& on, bit_reader& source, M& m, [[maybe_unused]] C const& c) {
    if constexpr (requires { c.read_message(on, source, m); })
        c.read_message(on, source, m);
    else if constexpr (requires { kind_of<M>.take(on, source, m, c); })
        kind_of<M>.take(on, source, m, c);
    else
        read(on, source, m);
}

/// Reads m so and adds w times its numbers to out, some at a time where its kind has take_and_add(on, source, m, w,
/// out) and c no way of its own to read: then m has no codes, and where it throws, those before are added, unless out
/// has them checked first.
template <class B, class M, class C, Scalar T>
void read_and_add(B& on, bit_reader& source, M& m, C const& c, T w, std::type_identity_t<added_to<T>> out) {
    if constexpr (requires { c.read_and_add(on, source, m, w, out); }) {
        c.read_and_add(on, source, m, w, out);
    } else if constexpr (
        requires { kind_of<M>.take_and_add(on, source, m, w, out); } && !requires { c.read_message(on, source, m); }) {
        kind_of<M>.take_and_add(on, source, m, w, out);
    } else {
        read(on, source, m, c);
        if (out.checked_first) source.finish();
        if (out.anew) fill(on, out.numbers, T(0));
        out.unturned ? messages::add_unturned(on, out.numbers, w, m) : add_message(on, out.numbers, w, m);
    }
}

/// The bits that papers count for a message, by a formula. For a message without a formula, such as a user's, it is the
/// number of bits written.
double bits_as_paper(auto const& m) {
    ledger books(position_code::smallest);
    write(books, m);
    return static_cast<double>(books.bits());
}

}  // namespace laconic::wire

namespace laconic::messages {

using wire::bits_as_paper;

template <wire::BitSink W, wire::HasKind M>
void write(W& sink, M const& m) {
    sink.charge(wire::message_part::values);
    wire::kind_of<M>.put(sink, m);
}
template <class B, wire::HasKind M>
void read(B& on, wire::bit_reader& source, M& m) {
    wire::kind_of<M>.take(on, source, m);
}
template <wire::BitSink W, wire::HasKind M>
void write_shape(W& sink, M const& m) {
    put_kind(sink, wire::kind_of<M>.number);
    wire::kind_of<M>.put_parameters(sink, m);
}
template <wire::HasKind M>
double bits_as_paper(M const& m) {
    return wire::kind_of<M>.as_paper(m);
}

}  // namespace laconic::messages
