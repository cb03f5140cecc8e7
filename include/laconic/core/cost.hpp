// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <concepts>
#include <limits>
#include <string>
#include <string_view>

#include "laconic/core/description.hpp"

namespace laconic {

/// The price of sending a message. Satisfied iff C is a comparable value, cost(bits) is the price of a message of so
/// many bits, at least 0 and no less for more bits, and to_string(cost) names it.
template <class C>
concept CommunicationCost = std::semiregular<C> && std::equality_comparable<C> && requires(C const& cost, double bits) {
    { cost(bits) } -> std::convertible_to<double>;
    { to_string(cost) } -> std::same_as<std::string>;
};

/// A price for each bit, for each packet that is begun and for the message itself, times the expected number of times
/// that the message is sent until it arrives whole. A message of no bits is not sent and costs nothing. Default: the
/// price is the number of bits. The functions below make the usual ones.
struct message_cost {
    double per_bit = 1, per_packet = 0;
    double payload = 0;  ///< bytes of a message in one packet; 0: there are no packets
    double per_message = 0;
    double loss = 0;  ///< the probability that a bit is lost, and its message with it

    /// The number of packets that a message of so many bits takes.
    double packets(double bits) const { return payload > 0 ? std::ceil(bits / (8 * payload)) : 0; }
    double operator()(double bits) const {
        if (!(bits > 0)) return 0;
        // Rounded alike with and without fused products, as the choice of a level depends on it.
        double const once = std::fma(per_bit, bits, std::fma(per_packet, packets(bits), per_message));
        return loss > 0 && once > 0 ? once * std::exp(-bits * std::log1p(-loss)) : once;  // once / (1 - loss)^bits
    }

    bool operator==(message_cost const&) const = default;
    friend std::string to_string(message_cost const& c);
};

/// The cost of a message together with that of what comes back: `up` for the message, `down` for a server's answer of
/// `answer` bits and for each of `others` messages of about the same size, which an all-gather among others + 1 ranks
/// brings. The answer also comes where the message has no bits. Made of a message_cost alone, it counts the way up
/// only.
struct two_way_cost {
    message_cost up{}, down = free();
    double answer = 0, others = 0;

    two_way_cost() = default;
    two_way_cost(message_cost up_) : up(up_) {}  // NOLINT: implicit: the way back is then free
    /// Throws argument_error for a count that is negative or not finite.
    two_way_cost(message_cost up_, message_cost down_, double answer_ = 0, double others_ = 0);

    static message_cost free() { return {0}; }

    double operator()(double bits) const {
        double const first = up(bits) + down(answer);
        return others > 0 ? std::fma(others, down(bits), first) : first;
    }

    bool operator==(two_way_cost const&) const = default;
    friend std::string to_string(two_way_cost const& c);
};

/// The cost on a link that loses each bit independently with probability `loss`, in [0, 1): a message that does not
/// arrive whole is sent again, and so 1 / (1 - loss)^bits times on average. Throws argument_error for another loss, and
/// where `once` has a loss already.
inline message_cost lossy_cost(message_cost once, double loss) {
    if (!(loss >= 0 && loss < 1)) throw argument_error({"a loss of ", loss, ": it is in [0, 1)"});
    if (once.loss > 0) throw argument_error({"a loss of ", to_string(once), ": it has one already"});
    once.loss = loss;
    return once;
}

/// The costs as texts have them: what they convert to is what the functions below return. The conversion throws
/// argument_error for a price that is negative or not finite.
namespace described_costs {

inline constexpr char const* source = "Khirirat, Magnusson, Aytekin, Johansson, arXiv:2003.06377";
inline constexpr double most = std::numeric_limits<double>::max();

constexpr auto price(std::string_view name, auto member) { return field(name, member).between(0, most).needed(); }
constexpr auto packet_size(auto member) { return field("payload", member).between(1, most).needed(); }
message_cost checked(auto const& described, message_cost cost) {
    detail::check_fields(described);
    return cost;
}

struct bits {
    static constexpr void description(auto&& describe) { describe("bits", "the number of bits", ""); }
    operator message_cost() const { return {}; }
};
struct affine {
    double per_bit = 0, per_message = 0;
    static constexpr void description(auto&& describe) {
        describe("affine", "a price for each bit and one for the message", source, price("per_bit", &affine::per_bit),
                 price("per_message", &affine::per_message));
    }
    operator message_cost() const { return checked(*this, {per_bit, 0, 0, per_message}); }
};
struct packets {
    double payload = 0, header = 0, fixed = 0;
    static constexpr void description(auto&& describe) {
        describe("packets", "bytes of packets, each of payload + header bytes, and of the message", source,
                 packet_size(&packets::payload), price("header", &packets::header), price("fixed", &packets::fixed));
    }
    operator message_cost() const { return checked(*this, {0, payload + header, payload, fixed}); }
};
struct energy {
    double per_bit = 0, per_packet = 0, payload = 0, to_wake = 0;
    static constexpr void description(auto&& describe) {
        describe("energy", "joules of a radio: for each bit, each packet of payload bytes, and the message", source,
                 price("per_bit", &energy::per_bit), price("per_packet", &energy::per_packet),
                 packet_size(&energy::payload), price("to_wake", &energy::to_wake));
    }
    operator message_cost() const { return checked(*this, {per_bit, per_packet, payload, to_wake}); }
};
struct air_time {
    double rate = 0, preamble = 0, payload = 0, wait = 0;
    static constexpr void description(auto&& describe) {
        describe("air_time", "seconds of a radio channel of `rate` bits a second, with packets of payload bytes", "",
                 field("rate", &air_time::rate).between(1e-300, most).needed(), price("preamble", &air_time::preamble),
                 packet_size(&air_time::payload), price("wait", &air_time::wait));
    }
    operator message_cost() const { return checked(*this, {1 / rate, preamble, payload, wait}); }
};
struct lossy {
    message_cost once{};
    double loss = 0;
    static constexpr void description(auto&& describe) {
        describe("lossy", "a cost on a link that loses each bit with a probability, and its message with it", "",
                 field("once", &lossy::once).needed(), field("loss", &lossy::loss).needed());
    }
    operator message_cost() const { return lossy_cost(once, loss); }
};
struct two_way {
    message_cost up{}, down{};
    double answer = 0, others = 0;
    static constexpr void description(auto&& describe) {
        describe("two_way", "what is sent, and what comes back: an answer of so many bits, so many others' messages",
                 "", field("up", &two_way::up).needed(), field("down", &two_way::down).needed(),
                 field("answer", &two_way::answer).between(0, most),
                 field("others", &two_way::others).between(0, most));
    }
    operator two_way_cost() const { return {up, down, answer, others}; }
};

}  // namespace described_costs

/// The cost per_bit x bits + per_message (Khirirat et al., CAT, arXiv:2003.06377: c1 and c0).
inline message_cost affine_cost(double per_bit, double per_message) {
    return described_costs::affine{per_bit, per_message};
}

/// The cost in bytes: each packet that is begun takes payload + header bytes on the link, full or not, and the message
/// takes `fixed` more (CAT's packet model: c1 = payload + header, P_max = payload, c0 = fixed). payload >= 1.
inline message_cost packet_cost(double payload, double header, double fixed) {
    return described_costs::packets{payload, header, fixed};
}

/// The cost in joules, for a radio: per bit, per packet of `payload` bytes that is begun (preamble, header), and
/// `to_wake` per message, to wake the radio up. payload >= 1.
inline message_cost energy_cost(double per_bit, double per_packet, double payload, double to_wake) {
    return described_costs::energy{per_bit, per_packet, payload, to_wake};
}

/// The cost in seconds of a radio channel: `rate` bits a second, `preamble` seconds for each packet of `payload` bytes
/// that is begun, and `wait` seconds per message to get the channel. rate >= 1e-300, payload >= 1.
inline message_cost air_time_cost(double rate, double preamble, double payload, double wait) {
    return described_costs::air_time{rate, preamble, payload, wait};
}

inline two_way_cost::two_way_cost(message_cost up_, message_cost down_, double answer_, double others_)
    : up(up_), down(down_), answer(answer_), others(others_) {
    detail::check_fields(described_costs::two_way{up, down, answer, others});
}

inline std::string to_string(message_cost const& c) {
    if (c.loss > 0) {
        message_cost once = c;
        once.loss = 0;
        return to_string(described_costs::lossy{once, c.loss});
    }
    if (c == message_cost{}) return to_string(described_costs::bits{});
    if (c.payload == 0) return to_string(described_costs::affine{c.per_bit, c.per_message});
    double const header = c.per_packet - c.payload;
    if (c.per_bit == 0 && header >= 0 && c.payload + header == c.per_packet)
        return to_string(described_costs::packets{c.payload, header, c.per_message});
    return to_string(described_costs::energy{c.per_bit, c.per_packet, c.payload, c.per_message});
}
inline std::string to_string(two_way_cost const& c) {
    if (c == two_way_cost(c.up)) return to_string(c.up);
    return to_string(described_costs::two_way{c.up, c.down, c.answer, c.others});
}

}  // namespace laconic
