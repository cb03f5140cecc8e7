// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "laconic/exchange/conversation.hpp"

namespace laconic::detail {

/// Every rank has the part of its own number and gets the others' (Bruck et al., IEEE TPDS 8, 1997): in each step twice
/// as many as before, ceil(log2 P) steps for any P ranks, each part handed to each rank once. say(sink) writes this
/// rank's part, and hear(source, p) reads part p. What is heard is handed on to the bit as it came, so that a part is
/// spelled by its own rank only; its spelling must not depend on where in a message it stands.
template <PointToPoint C, class Say, class Hear>
void all_gather_by(C& comm, conversation& talk, Say say, Hear hear) {
    auto const n = static_cast<std::size_t>(comm.size()), me = static_cast<std::size_t>(comm.rank());
    if (n == 1) return;
    std::size_t const last_distance = std::bit_ceil(n) / 2, last_count = n - last_distance;
    bit_writer& parts = talk.spell(say);  // so far, from this rank's on
    std::uint64_t last_bits = parts.bits();
    for (std::size_t distance = 1; distance < n; distance *= 2) {
        bool const is_last = distance == last_distance;
        if (is_last) parts.cut(last_bits);
        std::size_t const count = is_last ? last_count : distance;
        talk.exchange_bytes(comm, static_cast<int>((me + n - distance) % n), parts.so_far(),
                            static_cast<int>((me + distance) % n), [&](bit_reader& source) {
                                auto bits = last_bits;
                                for (std::size_t j = distance; j < distance + count; ++j) {
                                    hear(source, (me + j) % n);
                                    if (j < last_count) bits = parts.bits() + source.at();
                                }
                                if (is_last) return;
                                parts.put_bits(source.bytes(), source.at());
                                last_bits = bits;
                            });
    }
}

/// The same with parts of any type that has write and read, one for each rank. They have their dimensions before.
template <class B, PointToPoint C, class Part>
void all_gather_parts(B& on, C& comm, conversation& talk, std::vector<Part>& parts) {
    all_gather_by(
        comm, talk, [&](bit_writer& sink) { write(sink, parts[static_cast<std::size_t>(comm.rank())]); },
        [&](bit_reader& source, std::size_t p) { read(on, source, parts[p]); });
}

}  // namespace laconic::detail
