// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "laconic/backend/host/impl/philox_rounds.hpp"
#include "laconic/backend/host/memory.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/key.hpp"

/// The random words of a key, many at once.
namespace laconic::detail {

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

    /// layout.put(j, from.block(use, first + j)) for j < count, some of them together.
    template <class Layout>
    void draw(std::uint64_t first, std::size_t count, Layout layout) const {
        std::size_t done = rounds_.draw(first, count, layout);
        for (; done < count; ++done) layout.put(done, from_.block(use, first + done));
    }

  private:
    key from_;
    philox_rounds<A, use> rounds_{from_.bits};
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

/// The windows of one key, many at a time.
template <class A>
class window_source {
  public:
    static constexpr std::size_t together = 64;  ///< that share four blocks

    explicit window_source(key from) : blocks_(from) {}

    /// windows_j = from.window(first + j); first is a multiple of `together`.
    void draw(std::uint64_t first, std::span<std::uint16_t> windows) const {
        LACONIC_EXPECTS(first % together == 0);
        std::size_t const whole = windows.size() / together * together;
        draw_groups(first, windows.first(whole));
        if (whole == windows.size()) return;
        std::array<std::uint16_t, together> last;
        draw_groups(first + whole, last);
        std::copy_n(last.begin(), windows.size() - whole, windows.begin() + static_cast<std::ptrdiff_t>(whole));
    }

  private:
    void draw_groups(std::uint64_t first, std::span<std::uint16_t> windows) const {
        blocks_.draw(first / 16, windows.size() / 16,
                     detail::blocks_as_windows{reinterpret_cast<std::byte*>(windows.data())});
        if constexpr (std::endian::native == std::endian::big)
            for (std::size_t j = 0; j < windows.size(); j += 2) std::swap(windows[j], windows[j + 1]);
    }

    detail::random_blocks<A, detail::for_windows> blocks_;
};

}  // namespace laconic::kernels
