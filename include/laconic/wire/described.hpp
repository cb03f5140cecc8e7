// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "laconic/core/error.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/text.hpp"
#include "laconic/wire/checksum.hpp"
#include "laconic/wire/message.hpp"
#include "laconic/wire/unpack.hpp"
#include "laconic/wire/user_message.hpp"

/// The self-describing form, for files and for readers that do not run the same composition: a header, the shape of the
/// message, its bare form, and a checksum if asked for. docs/wire-format.md specifies it to the bit.
namespace laconic {

/// How a message is described.
struct description {
    bool with_checksum = true;
    position_code positions = position_code::smallest;
};

}  // namespace laconic

namespace laconic::detail {

// The first four bytes of the self-describing form.
inline constexpr std::uint32_t described_magic = 0x6e63616c;  // "lacn"
inline constexpr unsigned flag_checksum = 1, flag_double = 2;

template <class M>
concept HasShape = requires(wire::bit_writer& sink, M const& m) {
    write_shape(sink, m);
};
template <class M>
concept HasDescription = HasShape<M> &&(!DeclaresUserKind<M> || IsWrittenWithShape<M>);

// Prints what a message lacks that has no self-describing form.
template <class M>
consteval bool require_description() {
    if constexpr (DeclaresUserKind<M>)
        return require_user_kind<M>();
    else
        static_assert(HasShape<M>,
                      "M has no self-describing form: a message of your own needs static constexpr unsigned user_kind, "
                      "from 128 to 255 (wire/user_message.hpp)");
    return true;
}

// Writes all but the checksum.
template <class W, class M>
void write_described_to(W& sink, M const& m, description how) {
    wire::ledger announced(how.positions);
    write_shape(announced, m);
    write(announced, m);
    charge(sink, wire::message_part::header);
    sink.put(described_magic, 32);
    sink.put(wire::wire_version, 8);
    sink.put((how.with_checksum ? flag_checksum : 0) | (sizeof(typename M::value_type) == 8 ? flag_double : 0), 8);
    put_whole(sink, m.dimension());
    put_whole(sink, announced.unpadded());
    write_shape(sink, m);
    charge(sink, wire::message_part::values);
    write(sink, m);
}

template <class B, class... C>
unpacked read_description(std::span<std::byte const> bytes, reading_limits limits) {
    wire::bit_reader source(bytes);
    if (source.take(32) != described_magic) source.refuse("this is no message: it does not begin with \"lacn\"");
    if (auto const version = source.take(8); version != wire::wire_version)
        source.refuse(concat({"version ", version, ", where only 1 is known"}));
    auto const flags = source.take(8);
    if (flags > (flag_checksum | flag_double)) source.refuse("unknown flags");
    if ((flags & flag_checksum) != 0) {
        if (source.left() < 32) source.refuse("it ends before its checksum");
        auto const body = bytes.first(bytes.size() - 4);
        wire::bit_reader last(bytes.last(4));
        if (last.take(32) != wire::checksum(body))
            throw wire_error(8 * body.size(), "the checksum is another: it is damaged");
        source.limit(8 * body.size());
    }
    auto const dimension = take_whole(source, wire::longest_support);
    if (dimension > limits.dimension)
        source.refuse(concat({"dimension ", dimension, ", where the limit is ", limits.dimension}));
    auto const bits = take_whole(source, std::uint64_t{1} << 60);
    if (bits > source.left() || source.left() - bits >= 8)
        source.refuse(concat({bits, " bits are announced, ", source.left(), " are left"}));
    auto const end = source.at() + bits;
    unpacked result;
    if ((flags & flag_double) != 0)
        result = unpacker<double, B, C...>(source, limits).all(dimension);
    else
        result = unpacker<float, B, C...>(source, limits).all(dimension);
    if (source.at() != end)
        source.refuse(source.at() < end ? "it is shorter than announced" : "it is longer than announced");
    source.finish();
    return result;
}

}  // namespace laconic::detail

namespace laconic {

/// Writes the self-describing form of a message. Throws argument_error where a user's message has more than
/// longest_parameters bytes of parameters.
template <class M>
std::vector<std::byte> write_described(M const& m, description how = {}) {
    static_assert(detail::require_description<M>());
    if constexpr (detail::HasDescription<M>) {
        wire::bit_writer sink(how.positions);
        detail::write_described_to(sink, m, how);
        auto all = sink.finish();
        if (how.with_checksum) {
            sink.put(wire::checksum(all), 32);
            all = sink.finish();
        }
        return {all.begin(), all.end()};
    }
}

/// The bits of the self-describing form, by what they are spent on: together 8 times its bytes.
template <class M>
wire::ledger account_described(M const& m, description how = {}) {
    static_assert(detail::require_description<M>());
    if constexpr (detail::HasDescription<M>) {
        wire::ledger books(how.positions);
        detail::write_described_to(books, m, how);
        charge(books, wire::message_part::header);
        if (how.with_checksum) books.put(0, 32);
        return books;
    }
}

/// Reads the self-describing form of one message and trusts none of it. Throws wire_error, with the bit and the reason,
/// for anything else, for damage that the checksum shows, and where the message exceeds the limits. Messages of users'
/// types are read where these are given, as user_messages<C...> (wire/user_message.hpp); others are refused by the
/// number of their kind. What a user's functions throw passes through. B is a backend of the host.
template <class B = host, class... C>
unpacked read_described(std::span<std::byte const> bytes, reading_limits limits = {},
                        detail::user_messages_t<C...> = {}) {
    static_assert(detail::require_user_messages<B, C...>());
    if constexpr ((detail::NamesUserMessages<C, B> && ...)) return detail::read_description<B, C...>(bytes, limits);
}

}  // namespace laconic
