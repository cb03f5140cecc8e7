// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>

#include "laconic/comm/communicator.hpp"
#include "laconic/core/key.hpp"
#include "laconic/core/size.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/view.hpp"
#include "laconic/wire/byte_order.hpp"
#include "laconic/wire/stream.hpp"

namespace laconic::detail {

/// The exponent of a block of zeros: below all others.
inline constexpr std::int16_t no_exponent = std::numeric_limits<std::int16_t>::min();

/// The least e with |x_i| < 2^e for all of a block of finite numbers; no_exponent where all are zero.
template <Scalar T>
std::int16_t exponent_of(std::span<T const> x) {
    // Magnitudes have the order of their bits, and integers are compared faster, also for subnormal numbers.
    using bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    bits largest = 0;
    for (T const v : x) largest = std::max(largest, std::bit_cast<bits>(v) & std::numeric_limits<bits>::max());
    if (largest == 0) return no_exponent;
    int e = 0;
    std::frexp(std::bit_cast<T>(largest), &e);
    return static_cast<std::int16_t>(e);
}

/// The numbers of a block as integers that a switch can add (SwitchML, Sapio et al., NSDI 2021): multiples of a unit,
/// 2^(e - bits), where 2^e is above every magnitude of the block on any of P workers, and bits = 31 - bit_width(P).
/// Rounded to the nearest, ties to even; units are powers of two, so that nothing else is rounded.
///
/// P summands never overflow: |x| < 2^e is rounded to at most 2^bits, and P 2^bits < 2^bit_width(P) 2^bits = 2^31. The
/// error of a sum is at most P / 2 units, P 2^bit_width(P) 2^(e - 32) <= P^2 2^(e - 31), plus its own rounding to T.
class fixed_point {
  public:
    /// The most workers, with which a number still has 15 bits and a sign.
    static constexpr int most_workers = 65535;

    fixed_point(int workers, std::int16_t exponent)
        : shift_(exponent == no_exponent ? 0 : bits(workers) - exponent), zeros_(exponent == no_exponent) {}

    static int bits(int workers) { return 31 - static_cast<int>(std::bit_width(static_cast<unsigned>(workers))); }

    /// Writes the integers of x, 4 bytes each, lowest byte first.
    template <Scalar T>
    void put(std::span<T const> x, std::byte* to) const {
        // In two factors: the smallest and largest double are further apart than one factor can bridge.
        double const first = factor(shift_ / 2), second = factor(shift_ - shift_ / 2);
        for (std::size_t i = 0; i < x.size(); ++i) {
            // A double of this size has no bits for a fraction: the addition rounds, and leaves the integer in the low
            // bits.
            double const rounded = double(x[i]) * first * second + 0x1.8p52;
            store_half(to + 4 * i, static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(rounded)));
        }
    }
    /// x <- the sums that such integers represent; infinite where one, as rounded, is beyond T. Returns whether all are
    /// finite.
    template <Scalar T>
    bool take(std::byte const* from, std::span<T> x) const {
        double const first = factor(-shift_ / 2), second = factor(-shift_ - -shift_ / 2);
        bool finite = true;
        for (std::size_t i = 0; i < x.size(); ++i) {
            x[i] = static_cast<T>(double(std::bit_cast<std::int32_t>(load_half(from + 4 * i))) * first * second);
            finite &= std::abs(x[i]) <= std::numeric_limits<T>::max();
        }
        return finite;
    }

  private:
    double factor(int power) const { return zeros_ ? 0 : std::ldexp(1.0, power); }

    int shift_;
    bool zeros_;
};

}  // namespace laconic::detail

namespace laconic {

/// The settings that all nodes of a SwitchML sum must share. Workers are nodes 0 .. workers - 1; each switch adds up
/// one part of the coordinates, and is a node after the workers, or is also a worker.
struct switch_layout {
    std::size_t d = 0;
    int workers = 1;
    std::size_t block = 256;       ///< the numbers that share an exponent and a packet
    std::size_t slot_count = 128;  ///< the most blocks in flight from each worker to each switch; at most 2 block
    int switches = 1;
    bool apart = true;      ///< the switches are nodes workers, workers + 1, ..; else they are workers 0, 1, ..
    bool checksums = true;  ///< whether each packet has one; false where the network itself lets no damage through

    /// Throws argument_error for settings outside their ranges.
    void check() const {
        auto const refuse = [](detail::text_pieces why) {
            throw argument_error({"a sum by switches ", detail::concat(why)});
        };
        if (d > detail::largest_dimension) refuse({"of more than 2^32 - 1 dimensions"});
        if (workers < 1 || workers > detail::fixed_point::most_workers)
            refuse({"of ", workers, " workers: from 1 to ", detail::fixed_point::most_workers, " are possible"});
        if (block < 1 || block > 1u << 20) refuse({"with blocks of ", block, ": from 1 to 2^20"});
        if (slot_count < 1 || slot_count > 2 * block)
            refuse({"with ", slot_count, " slots: from 1 to twice the block"});
        if (switches < 1 || switches > (apart ? detail::fixed_point::most_workers : workers))
            refuse({"with ", switches, " switches"});
    }

    int nodes() const { return apart ? workers + switches : workers; }
    int node_of_switch(int which) const { return (apart ? workers : 0) + which; }
    /// The switch that a node is, or no_rank.
    int switch_of_node(int node) const {
        int const which = node - node_of_switch(0);
        return which >= 0 && which < switches ? which : no_rank;
    }
    detail::partition parts() const { return {d, static_cast<std::size_t>(switches)}; }
    /// The number of blocks that a switch adds up. None where there is one worker, whose sum is its own vector.
    std::size_t blocks(int which) const {
        return workers == 1 ? 0 : (parts().length(static_cast<std::size_t>(which)) + block - 1) / block;
    }
    /// The longest packet, in bytes.
    std::size_t longest_packet() const;
};

namespace detail {

/// The settings that the nodes compare, and their names in errors. The round is compared last.
inline constexpr std::array<char const*, 8> switch_items{
    "the dimension", "the bytes of a number", "the workers",    "the block",
    "the slots",     "the switches",          "switches apart", "the round"};
using switch_values = std::array<std::uint64_t, 8>;

template <Scalar T>
switch_values values_of(switch_layout const& how, std::uint64_t round) {
    return {how.d,     sizeof(T),      static_cast<std::uint64_t>(how.workers),
            how.block, how.slot_count, static_cast<std::uint64_t>(how.switches),
            how.apart, round};
}
inline std::uint64_t digest_of(switch_values const& values) {
    key k{0x5357};
    for (std::size_t i = 0; i + 1 < values.size(); ++i) k = k.child(values[i]);
    return k.bits;
}

/// The reason why there is no sum: numbers of one rank are not finite, or it has other settings. Of several the least
/// counts.
struct switch_error {
    enum kind : std::uint32_t { nothing, input, disagreement };
    std::uint32_t what = nothing, rank = 0;
    std::uint64_t where = 0;             // the coordinate, or the index into switch_items
    std::uint64_t theirs = 0, ours = 0;  // the value of that rank, the value of the switch

    static constexpr std::size_t bytes = 32;
    auto operator<=>(switch_error const&) const = default;
    void add(switch_error const& other) {
        if (other.what != nothing && (what == nothing || other < *this)) *this = other;
    }
    void put(std::byte* to) const {
        store_word(to, what | std::uint64_t{rank} << 32);
        store_word(to + 8, where);
        store_word(to + 16, theirs);
        store_word(to + 24, ours);
    }
    /// Reads one; nothing where the bytes are not valid.
    static std::optional<switch_error> take(std::byte const* from) {
        std::uint64_t const first = load_word(from);
        switch_error const c{static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(first >> 32),
                             load_word(from + 8), load_word(from + 16), load_word(from + 24)};
        if (c.what > disagreement || (c.what == disagreement && c.where >= switch_items.size())) return {};
        return c;
    }
    /// Throws the error that it names, if any.
    void raise(std::uint64_t round) const {
        if (what == input) throw non_finite_error(static_cast<int>(rank), round, static_cast<std::size_t>(where));
        if (what == disagreement)
            throw agreement_error(static_cast<int>(rank),
                                  {"ranks disagree: rank ", rank, " has \"", switch_items[where], ": ", theirs,
                                   "\", its switch has \"", switch_items[where], ": ", ours, "\""});
    }
};

/// The kinds of packets. From workers: hello (settings; exponents of the first blocks), numbers (of a block, and the
/// exponent of the next one of that slot) and bye. From the switch: the answers to these; patience, which names a
/// worker that it waits for where it cannot answer yet; and later, which reports that it is in a later round.
enum class switch_kind : std::uint8_t { hello = 1, numbers, bye, welcome, sums, good_bye, patience, later };

/// The header of every packet. 32 bytes: a mark of the protocol, a checksum of what follows, then the words below.
struct switch_header {
    switch_kind what{};
    std::uint64_t digest = 0, round = 0;
    std::uint32_t block = 0;
    std::int16_t exponent = no_exponent;

    static constexpr std::size_t bytes = 32;
    static constexpr std::uint64_t magic = 0x314d534c;  // "LSM1"

    /// Writes the header in front of the packet's content, which must be complete.
    void seal(std::span<std::byte> packet, bool with_checksum) const {
        store_word(packet.data() + 8, digest);
        store_word(packet.data() + 16, round);
        store_word(packet.data() + 24, block | std::uint64_t{static_cast<std::uint16_t>(exponent)} << 32 |
                                           std::uint64_t{static_cast<std::uint8_t>(what)} << 48);
        std::uint64_t const sum = with_checksum ? wire::checksum(packet.subspan(8)) : 0;
        store_word(packet.data(), magic | sum << 32);
    }
    /// Reads the header; nothing where a packet is not of this protocol, or is damaged.
    static std::optional<switch_header> open(std::span<std::byte const> packet, bool with_checksum) {
        if (packet.size() < bytes) return {};
        std::uint64_t const first = load_word(packet.data()), last = load_word(packet.data() + 24);
        std::uint64_t const sum = with_checksum ? wire::checksum(packet.subspan(8)) : 0, what = last >> 48;
        if (first != (magic | sum << 32) || what < 1 || what > static_cast<std::uint64_t>(switch_kind::later))
            return {};
        return switch_header{static_cast<switch_kind>(what), load_word(packet.data() + 8),
                             load_word(packet.data() + 16), static_cast<std::uint32_t>(last),
                             static_cast<std::int16_t>(static_cast<std::uint16_t>(last >> 32))};
    }
};

}  // namespace detail

inline std::size_t switch_layout::longest_packet() const {
    std::size_t const hello = detail::switch_error::bytes + 8 * detail::switch_items.size() + 2 * slot_count;
    return detail::switch_header::bytes + std::max(hello, 4 * block);
}

}  // namespace laconic
