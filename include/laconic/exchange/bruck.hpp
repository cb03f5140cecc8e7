// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "laconic/exchange/conversation.hpp"

namespace laconic::detail {

/// Every rank has the part of its own number and gets the others' (Bruck et al., IEEE TPDS 8, 1997): in each step twice
/// as many as before, ceil(log2 P) steps for any P ranks, each part handed to each rank once. The parts have their
/// dimensions before.
template <class B, PointToPoint C, Scalar T>
void all_gather_parts(B& on, C& comm, conversation& talk, std::vector<sparse_sum<T, B>>& parts) {
    auto const n = parts.size(), me = static_cast<std::size_t>(comm.rank());
    for (std::size_t distance = 1; distance < n; distance *= 2) {
        std::size_t const count = std::min(distance, n - distance);
        auto const each = [&](std::size_t first, auto f) {
            for (std::size_t j = 0; j < count; ++j) f(parts[(first + j) % n]);
        };
        talk.exchange(
            comm, static_cast<int>((me + n - distance) % n),
            [&](bit_writer& sink) { each(me, [&](auto const& part) { write(sink, part); }); },
            static_cast<int>((me + distance) % n),
            [&](bit_reader& source) { each(me + distance, [&](auto& part) { read(on, source, part); }); });
    }
}

}  // namespace laconic::detail
