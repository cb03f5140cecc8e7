// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "laconic/wire/stream.hpp"

namespace laconic::wire {

/// Puts many short words into a bit_writer, several times as fast as one by one: it makes room once, and stores each
/// word without a test whether it fills the pending bits. It is a sink itself; the writer may be used again after
/// finish().
class word_run {
  public:
    static constexpr unsigned widest = 56;

    /// For words of `bits` bits in all, none wider than `widest`.
    word_run(bit_writer& sink, std::uint64_t bits) : sink_(&sink) {
        sink.make_room(detail::as_size(bits / 8) + 24);
        to_ = sink.bytes_.data() + sink.size_;
        end_ = to_ + (sink.held_ + bits) / 8;
        pending_ = sink.pending_;
        held_ = sink.held_;
        store();
    }
    void put(std::uint64_t word, unsigned width) {
        LACONIC_EXPECTS_COSTLY(width <= widest && word >> width == 0);
        pending_ |= word << held_;
        held_ += width;
        store();
    }
    void finish() {
        LACONIC_EXPECTS(to_ == end_);
        sink_->size_ = static_cast<std::size_t>(to_ - sink_->bytes_.data());
        sink_->pending_ = pending_;
        sink_->held_ = held_;
    }

  private:
    // Stores all pending bits; whole bytes among them are final.
    void store() {
        detail::store_word(to_, pending_);
        to_ += held_ / 8;
        pending_ >>= held_ / 8 * 8;
        held_ %= 8;
    }

    bit_writer* sink_;
    std::byte *to_, *end_;
    std::uint64_t pending_;
    unsigned held_;  // the number of pending bits, below 8 between words
};

/// Calls f(run), which puts words of `bits` bits in all, none wider than word_run::widest. A sink that only adds widths
/// gets their number, and f is not called.
template <BitSink W, class F>
void put_words(W& sink, std::uint64_t bits, F f) {
    if constexpr (std::same_as<W, bit_writer>) {
        word_run words(sink, bits);
        f(words);
        words.finish();
    } else {
        sink.add(bits);
    }
}

}  // namespace laconic::wire
