// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "laconic/backend/host/memory.hpp"

namespace laconic::detail {

// The vectors that Philox's counters are held in; void where there are none.
template <class A>
void philox_lanes_of(instruction_set::generic);
template <class A>
using philox_lanes = decltype(philox_lanes_of<A>(instruction_set::chosen{}));

// Blocks of the counters (n, n >> 32, a purpose, 0), whose second word all share: that spares nearly all of the first
// round and half of the second.
template <class A, purpose use, class Lanes = philox_lanes<A>>
class philox_rounds {
    using lanes = Lanes;
    using counters = std::array<lanes, 4>;

  public:
    explicit philox_rounds(std::uint64_t key)
        : key_0_(static_cast<std::uint32_t>(key)), key_1_(static_cast<std::uint32_t>(key >> 32)) {
        for (std::uint32_t r = 0; r < keys_.size(); ++r)
            keys_[r] = {lanes::all(key_0_ + (r + 2) * step_0), lanes::all(key_1_ + (r + 2) * step_1)};
    }
    // layout.put(j, some) for vectors of whole blocks, that of the key's counter first + j and those after it: of the
    // first `count`, as many as such vectors hold. How many these are.
    template <class Layout>
    [[gnu::always_inline]] std::size_t draw(std::uint64_t first, std::size_t count, Layout layout) const {
        std::size_t done = 0;
        auto const draw_by = [&]<std::size_t... V>(std::index_sequence<V...> vectors) {
            constexpr std::size_t width = lanes::width, n = sizeof...(V) * width;
            for (; count - done >= n && static_cast<std::uint32_t>(first + done) <= ~std::uint32_t{0} - n; done += n)
                draw_vectors(
                    first + done,
                    [layout, done](std::size_t v, auto const& some) { layout.put(done + v * (width / 2), some); },
                    vectors);
        };
        draw_by(std::make_index_sequence<lanes::together>{});
        draw_by(std::make_index_sequence<1>{});
        return done;
    }

  private:
    static constexpr std::uint32_t factor_0 = 0xD2511F53u, factor_1 = 0xCD9E8D57u;
    static constexpr std::uint32_t step_0 = 0x9E3779B9u, step_1 = 0xBB67AE85u;
    static constexpr std::uint64_t of_purpose = std::uint64_t{factor_1} * use.number;

    // put(v, some) for each of 2 sizeof...(V) vectors of whole blocks, the n-th and those after it. They are drawn
    // together, so that some multiply while others wait, and by a pack expansion, so that no compiler keeps the
    // counters in memory.
    template <class Put, std::size_t... V>
    void draw_vectors(std::uint64_t n, Put put, std::index_sequence<V...>) const {
        auto const shared =
            std::uint64_t{factor_0} * (static_cast<std::uint32_t>(n >> 32) ^ key_0_ ^ (of_purpose >> 32));
        std::array<counters, sizeof...(V)> c{
            after_two_rounds(lanes::all(n) + (lanes::ascending() + lanes::all(V * lanes::width)), shared)...};
        for (auto const& k : keys_) (one_round(c[V], k), ...);
        (put_both(2 * V, in_blocks(c[V]), put), ...);
    }

    // shared: the product that the second word goes into.
    counters after_two_rounds(lanes n, std::uint64_t shared) const {
        auto const first = product(n, lanes::all(factor_0));
        auto const second = product(upper(first) ^ lanes::all(key_1_), lanes::all(factor_1));
        return {upper(second) ^ lanes::all(std::uint32_t{key_0_ + step_0} ^ of_purpose), second,
                first ^ lanes::all((shared >> 32) ^ std::uint32_t{key_1_ + step_1}), lanes::all(shared)};
    }
    static void one_round(counters& c, std::array<lanes, 2> const& key) {
        auto const a = product(c[0], lanes::all(factor_0)), b = product(c[2], lanes::all(factor_1));
        c = {odd_of_three(upper(b), c[1], key[0]), b, odd_of_three(upper(a), c[3], key[1]), a};
    }

    template <class Put>
    static void put_both(std::size_t v, std::array<lanes, 2> const& some, Put put) {
        put(v, some[0]);
        put(v + 1, some[1]);
    }

    std::uint32_t key_0_, key_1_;
    std::array<std::array<lanes, 2>, std::size_t{use.rounds} - 2> keys_;
};

// Without vectors none are drawn together.
template <class A, purpose use>
class philox_rounds<A, use, void> {
  public:
    explicit philox_rounds(std::uint64_t) {}
    template <class Layout>
    std::size_t draw(std::uint64_t, std::size_t, Layout) const {
        return 0;
    }
};

// The random words of a key, many at once.

inline constexpr std::size_t bytes_of_block = 16;

// Where blocks are written, in the machine's order of bytes: one after another, ..
struct blocks_as_words {
    std::byte* to;

    void put(std::size_t block, std::array<std::uint32_t, 4> const& words) const {
        std::memcpy(to + block * bytes_of_block, words.data(), bytes_of_block);
    }
    template <class Lanes>
    void put(std::size_t block, Lanes const& some) const {
        some.store(to + block * bytes_of_block);
    }
};

// .. or as windows: four blocks, and then the same with their words turned.
struct blocks_as_windows {
    static constexpr std::size_t turned_at = 4 * bytes_of_block;
    std::byte* to;

    std::byte* place(std::size_t block) const { return to + (block / 4 * 8 + block % 4) * bytes_of_block; }
    void put(std::size_t block, std::array<std::uint32_t, 4> words) const {
        std::memcpy(place(block), words.data(), bytes_of_block);
        for (auto& w : words) w = std::rotr(w, 8);
        std::memcpy(place(block) + turned_at, words.data(), bytes_of_block);
    }
    template <class Lanes>
    void put(std::size_t block, Lanes const& some) const {
        some.store(place(block));
        words_turned(some).store(place(block) + turned_at);
    }
};

// The blocks of one key for one purpose, many at a time.
template <class A, purpose use>
class random_blocks {
  public:
    explicit random_blocks(key from) : from_(from) {}

    key from() const { return from_; }
    /// layout.put(j, from.block(use, first + j)) for j < count, some of them together.
    template <class Layout>
    void draw(std::uint64_t first, std::size_t count, Layout layout) const {
        std::size_t done = rounds_.draw(first, count, layout);
        for (; done < count; ++done) layout.put(done, from_.block(use, first + done));
    }

  private:
    key from_;
    philox_rounds<A, use> rounds_{from_.bits_for(use)};
};

}  // namespace laconic::detail

namespace laconic::kernels {

/// words = from.words(block), from.words(block + 1), ..: as many as there is room for. words.size() is a multiple of 4.
template <class A>
void draw_words(basic_host<A>&, key from, std::uint64_t block, std::span<std::uint32_t> words) {
    LACONIC_EXPECTS(words.size() % 4 == 0);
    detail::random_blocks<A, detail::for_words>(from).draw(
        block, words.size() / 4, detail::blocks_as_words{reinterpret_cast<std::byte*>(words.data())});
}

/// windows_j = window(first + j) of the key that the blocks are of; both first and how many there is room for are
/// multiples of 64, which share four blocks.
template <class A>
void draw_windows(detail::random_blocks<A, detail::for_windows> const& blocks, std::uint64_t first,
                  std::span<std::uint16_t> windows) {
    LACONIC_EXPECTS(first % 64 == 0 && windows.size() % 64 == 0);
    blocks.draw(first / 16, windows.size() / 16,
                detail::blocks_as_windows{reinterpret_cast<std::byte*>(windows.data())});
    if constexpr (std::endian::native == std::endian::big)
        for (std::size_t j = 0; j < windows.size(); j += 2) std::swap(windows[j], windows[j + 1]);
    if (auto const turn = blocks.from().turn; turn != 0)
        for (auto& w : windows) w = static_cast<std::uint16_t>(w + turn);
}

}  // namespace laconic::kernels
