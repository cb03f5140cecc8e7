// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "laconic/core/error.hpp"
#include "laconic/core/term.hpp"
#include "laconic/wire/checksum.hpp"
#include "laconic/wire/message.hpp"
#include "laconic/wire/unpack.hpp"

/// The self-describing form, for files and for strangers: a header, the shape of the message, its bare form, and a
/// checksum if asked for. docs/wire-format.md has it to the bit.
namespace laconic {

inline constexpr std::uint32_t described_magic = 0x6e63616c;  // "lacn"

/// How a message is described.
struct description {
    bool with_checksum = true;
    position_code positions = position_code::smallest;
};

namespace detail {

inline constexpr unsigned flag_checksum = 1, flag_double = 2;

template <class W, class M>
void write_described_to(W& sink, M const& m, std::uint64_t bits, description how) {
    charge(sink, part::header);
    sink.put(described_magic, 32);
    sink.put(wire_version, 8);
    sink.put((how.with_checksum ? flag_checksum : 0) | (sizeof(typename M::value_type) == 8 ? flag_double : 0), 8);
    put_whole(sink, m.dimension());
    put_whole(sink, bits);
    write_shape(sink, m);
    write(sink, m);
}

}  // namespace detail

/// The self-describing form of a message.
template <class M>
std::vector<std::byte> write_described(M const& m, description how = {}) {
    ledger books(how.positions);
    write_shape(books, m);
    write(books, m);
    bit_writer sink(how.positions);
    detail::write_described_to(sink, m, books.unpadded(), how);
    auto const said = sink.finish();
    std::vector<std::byte> all(said.begin(), said.end());
    if (how.with_checksum) {
        std::uint32_t const sum = checksum(all);
        for (int b = 0; b < 4; ++b) all.push_back(static_cast<std::byte>(sum >> (8 * b) & 255));
    }
    return all;
}

/// What the self-describing form is spent on, in bits: 8 times its bytes.
template <class M>
ledger account_described(M const& m, description how = {}) {
    ledger inner(how.positions), books(how.positions);
    write_shape(inner, m);
    write(inner, m);
    detail::write_described_to(books, m, inner.unpadded(), how);
    charge(books, part::header);
    if (how.with_checksum) books.put(0, 32);
    return books;
}

/// Reads the self-describing form of one message and trusts none of it. Throws wire_error, with the bit and the reason,
/// for anything else, for damage that the checksum shows, and where the limits do not allow what it says. B is a
/// backend of the host.
template <class B = host>
unpacked read_described(std::span<std::byte const> bytes, reading_limits limits = {}) {
    bit_reader source(bytes);
    if (source.take(32) != described_magic) source.refuse("this is no message: it does not begin with \"lacn\"");
    if (auto const version = source.take(8); version != wire_version)
        source.refuse("version " + std::to_string(version) + ", where only 1 is known");
    auto const flags = source.take(8);
    if (flags > (detail::flag_checksum | detail::flag_double)) source.refuse("flags that there are not");
    if ((flags & detail::flag_checksum) != 0) {
        if (source.left() < 32) source.refuse("it ends before its checksum");
        auto const body = bytes.first(bytes.size() - 4);
        bit_reader last(bytes.last(4));
        if (last.take(32) != checksum(body))
            throw wire_error(8 * body.size(), "the checksum is another: it is damaged");
        source.limit(8 * body.size());
    }
    auto const dimension = take_whole(source, longest_support);
    if (dimension > limits.dimension)
        source.refuse("dimension " + std::to_string(dimension) + ", where the limit is " +
                      std::to_string(limits.dimension));
    auto const bits = take_whole(source, std::uint64_t{1} << 60);
    if (bits > source.left() || source.left() - bits >= 8)
        source.refuse(std::to_string(bits) + " bits are announced, " + std::to_string(source.left()) + " are left");
    auto const end = source.at() + bits;
    unpacked result;
    if ((flags & detail::flag_double) != 0)
        result = detail::unpacker<double, B>(source, limits).all(dimension);
    else
        result = detail::unpacker<float, B>(source, limits).all(dimension);
    if (source.at() != end) source.refuse("it is shorter than announced");
    source.finish();
    return result;
}

}  // namespace laconic
