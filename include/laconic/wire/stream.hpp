// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "laconic/backend/code_words.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/size.hpp"
#include "laconic/wire/byte_order.hpp"

namespace laconic {

/// The encoding of positions that a writer takes: the shortest of all, except for runs where these are seldom shorter
/// (docs/wire-format.md), or the shortest of those that are fastest to read.
enum class position_code { smallest, fastest };

}  // namespace laconic

namespace laconic::wire {

/// What the bits of a message are spent on. `header` is what separates the rest: counts, tags, padding.
enum class message_part { header, positions, scalars, values };

/// A sink that only adds widths, separately for each part: the size of a message is the size of what write() writes.
class ledger {
  public:
    explicit ledger(position_code how = position_code::smallest) : how_(how) {}

    void put(std::uint64_t, unsigned width) { spent_[static_cast<std::size_t>(to_)] += width; }
    /// Adds words of so many bits in all.
    void add(std::uint64_t bits) { spent_[static_cast<std::size_t>(to_)] += bits; }
    void charge(message_part to) { to_ = to; }
    position_code positions_as() const { return how_; }

    /// In bits: the numbers themselves; the coordinates that they belong to; norms, scales and other numbers that many
    /// values share; and all the rest, including the padding to whole bytes.
    std::uint64_t values() const { return spent(message_part::values); }
    std::uint64_t positions() const { return spent(message_part::positions); }
    std::uint64_t scalars() const { return spent(message_part::scalars); }
    std::uint64_t header() const { return spent(message_part::header) + (8 - unpadded() % 8) % 8; }

    /// The bits put without padding, and in whole bytes, which is the sum of the four.
    std::uint64_t unpadded() const {
        return spent(message_part::header) + spent(message_part::positions) + spent(message_part::scalars) +
               spent(message_part::values);
    }
    std::uint64_t bits() const { return (unpadded() + 7) / 8 * 8; }

  private:
    std::uint64_t spent(message_part of) const { return spent_[static_cast<std::size_t>(of)]; }

    std::array<std::uint64_t, 4> spent_{};
    message_part to_ = message_part::values;
    position_code how_;
};

/// A sink of bits: put(word, width) takes the low `width` <= 64 bits of a word, whose other bits are zero. What
/// messages are written to, a bit_writer or a ledger, also has charge(part), which says what the following bits are
/// spent on, and positions_as(), the encoding of positions that it requests.
template <class W>
concept BitSink = requires(W& sink, std::uint64_t word, unsigned width) {
    sink.put(word, width);
};

/// A sink into bytes, filled from the lowest bit of the first byte on; the last byte is padded with zeros.
class bit_writer {
  public:
    explicit bit_writer(position_code how = position_code::smallest) : how_(how) {}

    void put(std::uint64_t word, unsigned width) {
        LACONIC_EXPECTS_COSTLY(width <= 64 && (width == 64 || word >> width == 0));
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

    /// Pads to a whole byte and returns all that was written; valid until the next put or clear.
    std::span<std::byte const> finish() {
        auto const all = so_far();
        clear();
        size_ = all.size();
        return all;
    }

    /// The same as a vector, which is this sink's memory; then the sink is empty.
    std::vector<std::byte> take() {
        bytes_.resize(finish().size()), clear();
        return std::exchange(bytes_, {});
    }

    /// Pads to a whole byte and appends n bytes, for the caller to fill before the next put.
    std::span<std::byte> append(std::size_t n) {
        finish();
        size_ += n;
        make_room();
        return {bytes_.data() + size_ - n, n};
    }

    /// Puts these bytes, eight bits each, wherever the last bit ended.
    void put_bytes(std::span<std::byte const> bytes) {
        if (held_ % 8 == 0) {
            auto const room = append(bytes.size());
            if (!bytes.empty()) std::memcpy(room.data(), bytes.data(), bytes.size());
            return;
        }
        std::size_t const words = bytes.size() / 8;
        make_room(8 * words + 8);
        std::byte* const to = bytes_.data() + size_;
        for (std::size_t j = 0; j < words; ++j) {
            auto const word = detail::load_word(bytes.data() + 8 * j);
            detail::store_word(to + 8 * j, pending_ | word << held_);
            pending_ = word >> (64 - held_);
        }
        size_ += 8 * words;
        for (std::byte const b : bytes.subspan(8 * words)) put(std::to_integer<std::uint64_t>(b), 8);
    }
    /// Puts the first `bits` bits of these bytes, wherever the last bit ended.
    void put_bits(std::span<std::byte const> bytes, std::uint64_t bits) {
        auto const whole = detail::as_size(bits / 8);
        auto const rest = static_cast<unsigned>(bits % 8);
        LACONIC_EXPECTS(bits <= 8 * std::uint64_t{bytes.size()});
        put_bytes(bytes.first(whole));
        if (rest != 0) put(std::to_integer<std::uint64_t>(bytes[whole]) & ((1u << rest) - 1), rest);
    }
    /// The number of bits written, and all of them padded to a whole byte; the next put continues at the last bit.
    std::uint64_t bits() const { return 8 * std::uint64_t{size_} + held_; }
    std::span<std::byte const> so_far() {
        make_room();
        detail::store_word(bytes_.data() + size_, pending_);
        return {bytes_.data(), size_ + (held_ + 7) / 8};
    }
    /// Drops all but the first `bits` bits.
    void cut(std::uint64_t bits) {
        LACONIC_EXPECTS(bits <= this->bits());
        so_far();
        size_ = detail::as_size(bits / 8);
        held_ = static_cast<unsigned>(bits % 8);
        pending_ = held_ == 0 ? 0 : std::to_integer<std::uint64_t>(bytes_[size_]) & ((1u << held_) - 1);
    }

    /// Makes room for n bytes; if there was room for fewer, for at least half as many again as there was.
    void reserve(std::size_t n) {
        if (auto const now = bytes_.capacity(); now < n) bytes_.reserve(n > now + now / 2 ? n : now + now / 2);
    }

    /// Whether n bytes more fit the memory that was written before; clear() keeps it.
    bool is_laid_out(std::size_t n) const { return size_ + n <= bytes_.size(); }
    void clear() { size_ = 0, pending_ = 0, held_ = 0; }
    void charge(message_part) {}
    position_code positions_as() const { return how_; }
    kernels::code_packer packer;  ///< What packs the codes that are put; by default the host's kernels do.

  private:
    friend class word_run;

    // Makes room for n bytes more.
    void make_room(std::size_t n = 8) {
        // Not for all that is reserved at once: that would touch the memory.
        std::size_t const least = size_ + n, good = least + std::min<std::size_t>(size_, 1 << 16) + 56;
        if (bytes_.size() < least) bytes_.resize(bytes_.capacity() < least ? good : std::min(bytes_.capacity(), good));
    }

    std::vector<std::byte> bytes_;
    std::size_t size_ = 0;       // the number of bytes_ that are written
    std::uint64_t pending_ = 0;  // bits not yet in bytes_
    unsigned held_ = 0;          // their number, below 64
    position_code how_;
};

/// Reads what a bit_writer wrote and trusts none of it: every member throws wire_error at the end of the bytes.
class bit_reader {
  public:
    explicit bit_reader(std::span<std::byte const> bytes) : bytes_(bytes) {}

    /// The next `width` <= 64 bits.
    std::uint64_t take(unsigned width) {
        if (width > left()) refuse("it ends ", width - left(), " bits too early");
        std::uint64_t const word = keep(ahead(), width);
        bit_ += width;
        return word;
    }

    /// The number of ones before the next zero, which it takes as well.
    std::uint64_t take_ones(std::uint64_t most) {
        for (std::uint64_t n = 0;;) {
            std::uint64_t const here = std::min<std::uint64_t>(left(), 64);
            auto const ones = static_cast<std::uint64_t>(std::countr_one(keep(ahead(), static_cast<unsigned>(here))));
            n += ones;
            bit_ += ones;
            if (ones < 64 && ones == here) refuse("it ends among ones");
            if (n > most) refuse("more than ", most, " ones in a row");
            if (ones == 64) continue;
            ++bit_;
            return n;
        }
    }

    /// Takes the padding of this byte, which must be zero, and the n bytes after it.
    std::span<std::byte const> take_bytes(std::uint64_t n) {
        if (take(static_cast<unsigned>(left() % 8)) != 0) refuse("the padding of a byte is not zero");
        if (n > left() / 8) refuse("it ends ", n - left() / 8, " bytes too early");
        auto const bytes = bytes_.subspan(detail::as_size(bit_ / 8), detail::as_size(n));
        bit_ += 8 * n;
        return bytes;
    }

    /// The next `bits` <= left() bits, copied to `room` where they begin no byte of the message; others may follow.
    std::span<std::byte const> take_bits(std::uint64_t bits, std::span<std::byte> room) {
        auto const from = bytes_.subspan(detail::as_size(bit_ / 8));
        auto const offset = static_cast<unsigned>(bit_ % 8);
        bit_ += bits;
        if (offset == 0) return from;
        std::size_t const bytes = detail::as_size((bits + 7) / 8), words = bytes / 8;
        for (std::size_t i = 0; i < 8 * words; i += 8) {  // the byte behind the eight has the last bits, if any
            std::uint64_t const last = i + 8 < from.size() ? std::to_integer<std::uint64_t>(from[i + 8]) : 0;
            detail::store_word(room.data() + i, detail::load_word(from.data() + i) >> offset | last << (64 - offset));
        }
        for (std::size_t i = 8 * words; i < bytes; ++i)
            room[i] = from[i] >> offset | (i + 1 < from.size() ? from[i + 1] << (8 - offset) : std::byte{});
        return room.first(bytes);
    }

    /// The number of bits that are left, padding included, and of those that have been read.
    std::uint64_t left() const { return 8 * std::uint64_t{bytes_.size()} - bit_; }
    std::uint64_t at() const { return bit_; }

    /// For decoders that look ahead: all bytes of the message, and a skip over at most left() bits.
    std::span<std::byte const> bytes() const { return bytes_; }
    void skip(std::uint64_t bits) {
        LACONIC_EXPECTS(bits <= left());
        bit_ += bits;
    }

    /// Ends the message after `bits` bits in all, a whole number of bytes that exist.
    void limit(std::uint64_t bits) { bytes_ = bytes_.first(detail::as_size(bits / 8)); }

    /// Throws wire_error unless nothing but the last byte's zero padding is left.
    void finish() {
        if (left() >= 8) refuse("", left(), " bits are left over");
        if (take(static_cast<unsigned>(left())) != 0) refuse("the padding of the last byte is not zero");
    }

    [[noreturn, gnu::cold, gnu::noinline]] void refuse(std::string_view why) const {
        throw wire_error(bit_, std::string(why));
    }
    [[noreturn]] void refuse(detail::text_pieces why) const { refuse(detail::concat(why)); }

  private:
    [[noreturn, gnu::cold, gnu::noinline]] void refuse(char const* before, std::uint64_t n, char const* after) const {
        refuse(detail::concat({before, n, after}));
    }
    // The next 64 bits, with zeros from the end on.
    std::uint64_t ahead() const {
        auto const byte = detail::as_size(bit_ / 8);
        auto const offset = static_cast<unsigned>(bit_ % 8);
        if (bytes_.size() - byte >= 9) {
            std::uint64_t const low = detail::load_word(bytes_.data() + byte) >> offset;
            auto const last = std::to_integer<std::uint64_t>(bytes_[byte + 8]);
            return offset == 0 ? low : low | last << (64 - offset);
        }
        std::uint64_t word = 0;  // near the end, byte by byte
        for (unsigned b = 0; byte + b < bytes_.size(); ++b) {
            auto const next = std::to_integer<std::uint64_t>(bytes_[byte + b]);
            word |= b == 0 ? next >> offset : next << (8 * b - offset);
        }
        return word;
    }
    static std::uint64_t keep(std::uint64_t word, unsigned width) {
        return width == 64 ? word : word & ((std::uint64_t{1} << width) - 1);
    }

    std::span<std::byte const> bytes_;
    std::uint64_t bit_ = 0;
};

}  // namespace laconic::wire
