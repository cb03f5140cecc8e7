// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "laconic/wire/state.hpp"

/// States of parts and of runs, as bytes, and forged ones.

template <class P>
std::vector<std::byte> saved(P part, std::string const& what = "a part") {
    laconic::wire::state_writer archive(what);
    archive(part);
    return archive.finish();
}
template <class P>
void restore(P& part, std::span<std::byte const> bytes, std::string const& what = "a part",
             std::optional<std::size_t> dimension = {}) {
    laconic::wire::state_reader archive(bytes, what, dimension);
    archive(part);
    archive.rewind();
    archive(part);
}

/// Makes `to` what `from` is, by way of the bytes of its state.
template <class P>
void restore_from(P const& from, P& to) {
    restore(to, saved(from));
}

/// Bytes with a valid checksum, whatever stands in them.
inline std::vector<std::byte> sealed(std::vector<std::byte> bytes) {
    auto const sum = laconic::wire::checksum(bytes);
    for (int i = 0; i < 4; ++i) bytes.push_back(std::byte(sum >> (8 * i) & 0xff));
    return bytes;
}
inline std::vector<std::byte> unsealed(std::vector<std::byte> bytes) {
    bytes.resize(bytes.size() - 4);
    return bytes;
}
inline void put(std::vector<std::byte>& bytes, std::uint64_t n, std::size_t at) {
    for (std::size_t i = 0; i < 8; ++i) bytes.at(at + i) = std::byte(n >> (8 * i) & 0xff);
}
inline std::uint64_t word_at(std::span<std::byte const> bytes, std::size_t at) {
    std::uint64_t n = 0;
    for (std::size_t i = 0; i < 8; ++i) n |= std::to_integer<std::uint64_t>(bytes[at + i]) << (8 * i);
    return n;
}
