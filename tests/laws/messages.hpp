// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "laconic/compress/compressor.hpp"
#include "laconic/core/key.hpp"
#include "laconic/wire/message.hpp"

/// Vectors, messages and their bytes, without a test framework.
namespace laws {

using laconic::host;
using laconic::key;
using bytes = std::vector<std::byte>;

/// Numbers of both signs below 1 in magnitude, times a power of two from 2^-spread to 2^spread; the same on every
/// machine, because each operation is exact.
template <class T>
std::vector<T> noise(std::size_t d, std::uint64_t seed, int spread = 0) {
    std::vector<T> x(d);
    for (std::size_t i = 0; i < d; ++i) {
        auto const w = key{seed}.words(i);
        int const e = static_cast<int>(w[1] % static_cast<unsigned>(2 * spread + 1)) - spread;
        x[i] = static_cast<T>(std::ldexp(static_cast<double>(w[0] >> 8) - 0x1p23, e - 23));
    }
    return x;
}

/// Vectors that find mistakes: every kind that the documentation names, and lengths around 64.
template <class T>
std::vector<std::vector<T>> vectors() {
    using limits = std::numeric_limits<T>;
    T const tiny = limits::denorm_min(), least = limits::min(), huge = limits::max() / 256;
    std::vector<std::vector<T>> all = {
        {},
        {0},
        {1},
        {-3},
        std::vector<T>(5, 0),
        std::vector<T>(7, T(2.5)),
        {1, -1, 1, -1, 1, -1, 1, -1},
        {0, -0.0, 0, 2, 0, 0, 0, 0, 0},
        {tiny, -2 * tiny, 3 * tiny, 0, 5 * tiny, -7 * tiny},
        {least, -least / 2, least * T(1.5), 3, least / 4},
        {huge, -huge / 2, huge / 3, 0, 1, tiny},
    };
    for (std::size_t const d : {2u, 33u, 63u, 64u, 65u, 130u}) all.push_back(noise<T>(d, 7 + d, d % 2 ? 12 : 0));
    return all;
}

template <class M, class T, class B = host>
std::vector<T> decoded(M const& m, T w = 1) {
    B on;
    std::vector<T> out(m.dimension(), T(0));
    add_message(on, std::span<T>(out), w, m);
    return out;
}

template <class M>
bytes written(M const& m) {
    laconic::bit_writer sink;
    write(sink, m);
    auto const said = sink.finish();
    return {said.begin(), said.end()};
}

/// Gives bytes from nowhere to a receiver of C's messages about d numbers. Either they are refused, at a place within
/// them, or what comes out is a message of d finite numbers that is written and then read as the same (in other bytes,
/// perhaps: positions have several spellings, and a writer does not try every parameter). Returns what is wrong, or
/// nothing; `accepted` says which of the two it was.
template <class T, class B = host, class C>
std::string trouble_with(C const& c, std::size_t d, key from, std::span<std::byte const> said, bool& accepted) {
    static thread_local B on;
    static thread_local laconic::message_of<C, T, B> m;
    c.blank(on, d, from, m);
    accepted = false;
    try {
        laconic::bit_reader source(said);
        read(on, source, m);
        source.finish();
    } catch (laconic::wire_error const& e) {
        return e.bit <= 8 * said.size() ? "" : "refused at bit " + std::to_string(e.bit) + ", which is not there";
    }
    accepted = true;
    if (m.dimension() != d) return "another dimension";
    for (T const v : decoded<decltype(m), T, B>(m))
        if (!std::isfinite(v)) return "a number that is not finite";
    auto const again = written(m);
    static thread_local laconic::message_of<C, T, B> same;
    c.blank(on, d, from, same);
    laconic::bit_reader source(again);
    read(on, source, same);
    source.finish();
    if (!(same == m)) return "written again, it is another message";
    return written(same) == again ? "" : "one message, written twice, in two ways";
}

/// 64 bits that name a sequence of bytes (FNV-1a).
struct digest {
    std::uint64_t value = 0xcbf29ce484222325u;
    void add(std::span<std::byte const> said) {
        for (std::byte const b : said) value = (value ^ std::to_integer<std::uint64_t>(b)) * 0x100000001b3u;
    }
};

}  // namespace laws
