// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "laconic/core/error.hpp"

namespace laconic {

/// Where a message is written: put(word, width) takes the low `width` <= 64 bits of a word, the others being zero.
template <class W>
concept BitSink = requires(W& sink, std::uint64_t word, unsigned width) {
    sink.put(word, width);
};

/// Where a message is read: take(width) gives the next `width` <= 64 bits or throws wire_error; refuse(why) throws one.
template <class R>
concept BitSource = requires(R& source, unsigned width, std::string why) {
    { source.take(width) } -> std::same_as<std::uint64_t>;
    source.refuse(why);
};

/// A sink that only adds widths: the size of a message is what writing it would write.
class bit_counter {
  public:
    void put(std::uint64_t, unsigned width) { bits_ += width; }
    std::uint64_t bits() const { return bits_; }

  private:
    std::uint64_t bits_ = 0;
};

namespace detail {

// Bytes in the order of the wire, lowest first, whatever the machine's own order is.
inline void store_word(std::byte* to, std::uint64_t word) {
    if constexpr (std::endian::native == std::endian::little)
        std::memcpy(to, &word, sizeof word);
    else
        for (unsigned b = 0; b < 8; ++b) to[b] = static_cast<std::byte>(word >> (8 * b));
}
inline std::uint64_t load_word(std::byte const* from) {
    std::uint64_t word = 0;
    if constexpr (std::endian::native == std::endian::little)
        std::memcpy(&word, from, sizeof word);
    else
        for (unsigned b = 0; b < 8; ++b) word |= std::to_integer<std::uint64_t>(from[b]) << (8 * b);
    return word;
}

}  // namespace detail

/// Bytes, filled from the lowest bit of the first byte on; the last is padded with zeros.
class bit_writer {
  public:
    void put(std::uint64_t word, unsigned width) {
        pending_ |= word << held_;
        unsigned const total = held_ + width;
        if (total < 64) {
            held_ = total;
            return;
        }
        make_room();
        detail::store_word(bytes_.data() + size_, pending_);
        size_ += 8;
        pending_ = held_ == 0 ? 0 : word >> (64 - held_);
        held_ = total - 64;
    }

    /// Pads to a whole byte and gives all that was written; valid until the next put or clear.
    std::span<std::byte const> finish() {
        make_room();
        detail::store_word(bytes_.data() + size_, pending_);
        size_ += (held_ + 7) / 8;
        pending_ = 0;
        held_ = 0;
        return {bytes_.data(), size_};
    }

    /// Starts anew and keeps the memory.
    void clear() {
        size_ = 0;
        pending_ = 0;
        held_ = 0;
    }

  private:
    void make_room() {
        if (bytes_.size() < size_ + 8) bytes_.resize(2 * size_ + 64);
    }

    std::vector<std::byte> bytes_;
    std::size_t size_ = 0;       // how many of bytes_ are written
    std::uint64_t pending_ = 0;  // bits not yet in bytes_
    unsigned held_ = 0;          // how many, below 64
};

/// Reads what a bit_writer wrote and trusts none of it.
class bit_reader {
  public:
    explicit bit_reader(std::span<std::byte const> bytes) : bytes_(bytes) {}

    std::uint64_t take(unsigned width) {
        if (width > left()) refuse("it ends " + std::to_string(width - left()) + " bits too early");
        auto const byte = static_cast<std::size_t>(bit_ / 8);
        auto const offset = static_cast<unsigned>(bit_ % 8);
        bit_ += width;
        if (bytes_.size() - byte >= 9) {
            std::uint64_t const low = detail::load_word(bytes_.data() + byte) >> offset;
            std::uint64_t const high =
                offset == 0 ? 0 : std::to_integer<std::uint64_t>(bytes_[byte + 8]) << (64 - offset);
            return keep(low | high, width);
        }
        std::uint64_t word = 0;  // near the end, byte by byte
        for (unsigned b = 0; byte + b < bytes_.size(); ++b) {
            auto const next = std::to_integer<std::uint64_t>(bytes_[byte + b]);
            word |= b == 0 ? next >> offset : next << (8 * b - offset);
        }
        return keep(word, width);
    }

    /// How many bits are left, padding included.
    std::uint64_t left() const { return 8 * std::uint64_t{bytes_.size()} - bit_; }

    /// Throws wire_error unless nothing but the last byte's zero padding is left.
    void finish() {
        if (left() >= 8) refuse(std::to_string(left()) + " bits are left over");
        if (take(static_cast<unsigned>(left())) != 0) refuse("the padding of the last byte is not zero");
    }

    [[noreturn]] void refuse(std::string const& why) const { throw wire_error(bit_, why); }

  private:
    static std::uint64_t keep(std::uint64_t word, unsigned width) {
        return width == 64 ? word : word & ((std::uint64_t{1} << width) - 1);
    }

    std::span<std::byte const> bytes_;
    std::uint64_t bit_ = 0;
};

static_assert(BitSink<bit_counter> && BitSink<bit_writer> && BitSource<bit_reader>);

}  // namespace laconic
