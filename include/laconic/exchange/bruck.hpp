// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "laconic/exchange/conversation.hpp"

namespace laconic::detail {

/// Every rank has the part of its own number and gets the others' (Bruck et al., IEEE TPDS 8, 1997): in each step twice
/// as many as before, ceil(log2 P) steps for any P ranks, each part handed to each rank once. say(sink, p) writes part
/// p, hear(source, p) reads it.
template <PointToPoint C, class Say, class Hear>
void all_gather_by(C& comm, conversation& talk, Say say, Hear hear) {
    auto const n = static_cast<std::size_t>(comm.size()), me = static_cast<std::size_t>(comm.rank());
    for (std::size_t distance = 1; distance < n; distance *= 2) {
        std::size_t const count = std::min(distance, n - distance);
        auto const each = [&](std::size_t first, auto f) {
            for (std::size_t j = 0; j < count; ++j) f((first + j) % n);
        };
        talk.exchange(
            comm, static_cast<int>((me + n - distance) % n),
            [&](bit_writer& sink) { each(me, [&](std::size_t p) { say(sink, p); }); },
            static_cast<int>((me + distance) % n),
            [&](bit_reader& source) { each(me + distance, [&](std::size_t p) { hear(source, p); }); });
    }
}

/// The same with parts of any type that has write and read, one for each rank. They have their dimensions before.
template <class B, PointToPoint C, class Part>
void all_gather_parts(B& on, C& comm, conversation& talk, std::vector<Part>& parts) {
    all_gather_by(
        comm, talk, [&](bit_writer& sink, std::size_t p) { write(sink, parts[p]); },
        [&](bit_reader& source, std::size_t p) { read(on, source, parts[p]); });
}

}  // namespace laconic::detail
