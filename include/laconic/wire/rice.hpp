// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "laconic/wire/stream.hpp"

/// Many short words at a time, and Rice codes (Golomb 1966, Rice 1979): the code of n is floor(n / 2^r) ones and a
/// zero, then the low r bits. For geometric n it is, with the best r, within a few hundredths of a bit of the entropy.
namespace laconic::detail {

inline constexpr unsigned rice_parameter_width = 6, largest_rice_parameter = 40;

// A parameter, and the number of bits that numbers take with it.
struct rice_choice {
    unsigned parameter;
    std::uint64_t bits;
};

// The bits that `count` numbers take with the three parameters around the one that suits their mean, and the best of
// these. As a function of r the bits are convex: from r to r + 1 the count is added, and for each number n the quotient
// q = n div 2^r loses half of it, rounded up, which does not grow with r. So the best of three, if it is not at an
// edge, is the best of all.
class rice_sums {
  public:
    // For `count` numbers whose sum is about `total`; count > 0, total < 2^41.
    rice_sums(std::uint64_t total, std::uint64_t count) : count_(count) {
        // For geometric numbers with that mean it is 1 + floor(log2(log(phi) (mean + 1/2))), with phi = 1.618 (Kiely,
        // JPL IPN 42-159, 2004).
        std::uint64_t const scaled = (2 * total + count) * 123 / (512 * count);
        auto const middle = static_cast<unsigned>(std::bit_width(scaled));
        first_ = std::clamp(middle, 1u, largest_rice_parameter - 1) - 1;
    }
    void add(std::uint64_t n) {
        for (unsigned j = 0; j < 3; ++j) quotients_[j] += n >> (first_ + j);
    }
    // Adds many at once; their sum must fit an I.
    template <std::unsigned_integral Index, std::size_t N>
    void add(std::array<Index, N> const& numbers) {
        for (unsigned j = 0; j < 3 && first_ + j < 8 * sizeof(Index); ++j) {
            Index sum = 0;
            for (Index const n : numbers) sum += static_cast<Index>(n >> (first_ + j));
            quotients_[j] += sum;
        }
    }
    // The best of the three; the least where several are best.
    rice_choice best() const {
        rice_choice best{first_, bits(0)};
        for (unsigned j = 1; j < 3; ++j)
            if (bits(j) < best.bits) best = {first_ + j, bits(j)};
        return best;
    }
    bool is_best_of_all() const {
        auto const r = best().parameter;
        return (r > first_ || r == 0) && (r < first_ + 2 || r == largest_rice_parameter);
    }

  private:
    std::uint64_t bits(unsigned j) const { return quotients_[j] + count_ * (1 + first_ + j); }

    std::uint64_t count_;
    unsigned first_;
    std::array<std::uint64_t, 3> quotients_{};
};

// The best of all parameters for `count` numbers: the counts of each set bit give the sums of all quotients.
class rice_counts {
  public:
    explicit rice_counts(std::uint64_t count) : count_(count) {}

    void add(std::uint64_t n) {
        for (; n != 0; n &= n - 1) ++ones_[static_cast<unsigned>(std::countr_zero(n))];
    }
    // Adds many at once, each below 2^width.
    template <std::unsigned_integral Index, std::size_t N>
    void add(std::array<Index, N> const& numbers, unsigned width) {
        for (unsigned b = 0; b < width; ++b) {
            Index sum = 0;
            for (Index const n : numbers) sum += static_cast<Index>(n >> b & 1);
            ones_[b] += sum;
        }
    }
    // The best parameter; the least where several are best.
    rice_choice best() const {
        std::uint64_t quotients = 0;
        rice_choice best{0, ~std::uint64_t{0}};
        for (unsigned r = largest_rice_parameter + 1; r-- > 0;) {
            quotients = 2 * quotients + ones_[r];
            if (auto const bits = quotients + count_ * (1 + r); bits <= best.bits) best = {r, bits};
        }
        return best;
    }

  private:
    std::uint64_t count_;
    std::array<std::uint64_t, largest_rice_parameter + 1> ones_{};
};

}  // namespace laconic::detail

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

/// Writes n < 2^41 with the parameter r, in words of at most 56 bits.
void put_rice(BitSink auto& sink, std::uint64_t n, unsigned r) {
    std::uint64_t quotient = n >> r;
    for (; quotient >= 32; quotient -= 32) sink.put(0xffffffffu, 32);
    sink.put((std::uint64_t{1} << quotient) - 1, static_cast<unsigned>(quotient) + 1);
    sink.put(n & ((std::uint64_t{1} << r) - 1), r);
}

/// Reads such a number; throws wire_error where it must be above `most`, so that hostile bytes take no more time than
/// their length allows. The result may be above `most` by less than 2^r.
inline std::uint64_t take_rice(bit_reader& source, std::uint64_t most, unsigned r) {
    std::uint64_t const quotient = source.take_ones(most >> r);
    return quotient << r | source.take(r);
}
inline unsigned take_rice_parameter(bit_reader& source) {
    auto const r = static_cast<unsigned>(source.take(detail::rice_parameter_width));
    if (r > detail::largest_rice_parameter) source.refuse({"a Rice parameter of ", r});
    return r;
}

}  // namespace laconic::wire

namespace laconic::detail {

// Writes numbers below 2^width with the parameter r: two in a word, where any two fit.
template <std::unsigned_integral Index>
void put_rices(wire::word_run& run, std::span<Index const> numbers, unsigned width, unsigned r) {
    std::uint64_t const low = (std::uint64_t{1} << r) - 1, longest = (((std::uint64_t{1} << width) - 1) >> r) + 1 + r;
    if (longest > wire::word_run::widest) {
        for (Index const n : numbers) put_rice(run, n, r);
        return;
    }
    struct code {
        std::uint64_t word;
        unsigned width;
    };
    auto const of = [&](std::uint64_t n) {
        auto const ones = static_cast<unsigned>(n >> r);
        return code{((std::uint64_t{1} << ones) - 1) | (n & low) << (ones + 1), ones + 1 + r};
    };
    auto words = run;  // a copy that lives in registers
    std::size_t j = 0;
    if (2 * longest <= wire::word_run::widest)
        for (; j + 2 <= numbers.size(); j += 2) {
            auto const a = of(numbers[j]), b = of(numbers[j + 1]);
            words.put(a.word | b.word << a.width, a.width + b.width);
        }
    for (; j < numbers.size(); ++j) {
        auto const a = of(numbers[j]);
        words.put(a.word, a.width);
    }
    run = words;
}

}  // namespace laconic::detail
