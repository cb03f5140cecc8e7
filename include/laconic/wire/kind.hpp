// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "laconic/wire/stream.hpp"

/// What a message is made of, as the self-describing form names it: a kind in eight bits, then what that kind needs
/// beside the body. docs/wire-format.md lists the kinds.
namespace laconic::wire {

/// The version of the format. Ranks that run another version refuse each other at the start.
inline constexpr unsigned wire_version = 1;

/// A kind of stage in a shape. The numbers are part of the format; each stands at its kind's description, beside
/// write_shape in the header of the message. wire/message.hpp lists these descriptions.
enum class message_kind : std::uint8_t {};

/// The first of the kinds, up to 255, that no version uses: they are for users' own messages (wire/user_message.hpp).
inline constexpr unsigned first_user_kind = 128;
constexpr bool is_user_kind(long long k) { return k >= first_user_kind && k <= 255; }
constexpr bool is_user_kind(message_kind k) { return is_user_kind(static_cast<long long>(k)); }

/// The largest number of bytes of parameters that a user's kind may have in a shape.
inline constexpr std::size_t longest_parameters = 4096;

void put_kind(BitSink auto& sink, message_kind k) { sink.put(static_cast<std::uint64_t>(k), 8); }

/// Puts an integer below 2^63: seven bits at a time, the lowest first, each with a bit above them that is set where
/// more follow.
void put_whole(BitSink auto& sink, std::uint64_t n) {
    for (; n >= 128; n >>= 7) sink.put((n & 127) | 128, 8);
    sink.put(n, 8);
}

/// Puts the length of the buckets or units of n numbers: at most n, and 0 only where it is 0.
void put_length(BitSink auto& sink, std::size_t length, std::size_t n) {
    put_whole(sink, std::min(length, std::max(n, std::size_t{1})));
}

/// Reads such an integer; throws wire_error where it is above `most` or not in its shortest form.
inline std::uint64_t take_whole(bit_reader& source, std::uint64_t most) {
    std::uint64_t n = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
        std::uint64_t const byte = source.take(8);
        n |= (byte & 127) << shift;
        if (byte < 128) {
            if (byte == 0 && shift > 0) source.refuse("a number that is not in its shortest form");
            if (n > most) source.refuse({n, " where at most ", most, " may be"});
            return n;
        }
    }
    source.refuse("a number of more than 63 bits");
    return 0;
}

}  // namespace laconic::wire
