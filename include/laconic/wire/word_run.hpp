// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "laconic/core/contract.hpp"
#include "laconic/wire/stream.hpp"

namespace laconic {

/// Many short words into a bit_writer, several times as fast as one by one: room is made once, and each word is stored
/// without asking whether it fills what is pending. A sink itself; the writer is used again after finish().
class word_run {
  public:
    static constexpr unsigned widest = 56;

    /// For words of `bits` bits in all, no one wider than `widest`.
    word_run(bit_writer& sink, std::uint64_t bits) : sink_(&sink) {
        sink.make_room(static_cast<std::size_t>(bits / 8) + 24);
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
    // All that is pending; what fills whole bytes stays there.
    void store() {
        detail::store_word(to_, pending_);
        to_ += held_ / 8;
        pending_ >>= held_ / 8 * 8;
        held_ %= 8;
    }

    bit_writer* sink_;
    std::byte *to_, *end_;
    std::uint64_t pending_;
    unsigned held_;  // how many bits are pending, below 8 between words
};

/// f(run) puts words of `bits` bits in all, no one wider than word_run::widest. A sink that only adds widths is told
/// how many, and f is not called.
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

}  // namespace laconic
