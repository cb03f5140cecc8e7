// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
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

/// Bytes, filled from the lowest bit of the first byte on; the last is padded with zeros.
class bit_writer {
  public:
    void put(std::uint64_t word, unsigned width) {
        pending_ |= word << held_;
        unsigned const taken = held_ + width;
        if (taken >= 64) {
            spill(8);
            unsigned const written = 64 - held_;
            pending_ = written < 64 ? word >> written : 0;
            held_ = taken - 64;
        } else {
            held_ = taken;
        }
    }

    /// Pads to a whole byte and gives all that was written; valid until the next put or clear.
    std::span<std::byte const> finish() {
        spill((held_ + 7) / 8);
        pending_ = 0;
        held_ = 0;
        return bytes_;
    }

    /// Starts anew and keeps the memory.
    void clear() {
        bytes_.clear();
        pending_ = 0;
        held_ = 0;
    }

  private:
    void spill(unsigned count) {
        for (unsigned b = 0; b < count; ++b) bytes_.push_back(static_cast<std::byte>(pending_ >> (8 * b)));
    }

    std::vector<std::byte> bytes_;
    std::uint64_t pending_ = 0;  // bits not yet in bytes_
    unsigned held_ = 0;          // how many, below 64
};

/// Reads what a bit_writer wrote and trusts none of it.
class bit_reader {
  public:
    explicit bit_reader(std::span<std::byte const> bytes) : bytes_(bytes) {}

    std::uint64_t take(unsigned width) {
        if (width > left()) refuse("it ends " + std::to_string(width - left()) + " bits too early");
        std::uint64_t word = 0;
        for (unsigned got = 0; got < width;) {
            unsigned const offset = static_cast<unsigned>(bit_ % 8), here = std::min(8 - offset, width - got);
            auto const byte = std::to_integer<std::uint64_t>(bytes_[bit_ / 8]);
            word |= (byte >> offset & ((1u << here) - 1)) << got;
            got += here;
            bit_ += here;
        }
        return word;
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
    std::span<std::byte const> bytes_;
    std::uint64_t bit_ = 0;
};

static_assert(BitSink<bit_counter> && BitSink<bit_writer> && BitSource<bit_reader>);

}  // namespace laconic
