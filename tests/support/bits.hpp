// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "laconic/backend/host.hpp"
#include "laconic/wire/stream.hpp"

/// Bytes made by hand, bit by bit.
namespace by_hand {

using bytes = std::vector<std::byte>;

/// The low `width` bits of a value.
struct word {
    std::uint64_t value;
    unsigned width;
};
inline word number(float v) { return {std::bit_cast<std::uint32_t>(v), 32}; }
inline word number(double v) { return {std::bit_cast<std::uint64_t>(v), 64}; }
inline word byte(std::uint64_t value) { return {value, 8}; }

/// Whole bytes, then words.
inline std::vector<word> words_of(std::vector<unsigned> const& first, std::vector<word> const& more = {}) {
    std::vector<word> all;
    for (unsigned const b : first) all.push_back(byte(b));
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

/// What was put into the sink, padded to whole bytes.
inline bytes bytes_of(laconic::wire::bit_writer& sink) {
    auto const all = sink.finish();
    return {all.begin(), all.end()};
}
inline bytes bytes_of(std::vector<word> const& words) {
    laconic::wire::bit_writer sink;
    for (auto const& w : words) sink.put(w.value, w.width);
    return bytes_of(sink);
}
/// One byte for each value.
inline bytes bytes_of_values(std::vector<unsigned> const& values) {
    bytes all;
    for (unsigned const v : values) all.push_back(static_cast<std::byte>(v));
    return all;
}
template <class M>
bytes written(M const& m) {
    laconic::wire::bit_writer sink;
    write(sink, m);
    return bytes_of(sink);
}
template <class M>
bytes shape_of(M const& m) {
    laconic::wire::bit_writer sink;
    write_shape(sink, m);
    return bytes_of(sink);
}
/// The message m once it has read all of the bytes; c, where others are inside m, has made it blank.
template <class M>
M read_into(M m, std::span<std::byte const> from, auto const&... c) {
    laconic::wire::bit_reader source(from);
    laconic::host on;
    read(on, source, m, c...);
    source.finish();
    return m;
}
template <class M>
M read_into(M m, std::vector<word> const& words, auto const&... c) {
    return read_into(std::move(m), bytes_of(words), c...);
}

}  // namespace by_hand
