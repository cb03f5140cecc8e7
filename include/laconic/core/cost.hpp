// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <concepts>
#include <string>

#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"

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
    friend std::string to_string(message_cost const& c) {
        if (c.loss > 0) {
            message_cost once = c;
            once.loss = 0;
            return detail::concat({"lossy(", to_string(once), ", ", c.loss, ")"});
        }
        if (c.payload == 0 && c.per_message == 0 && c.per_bit == 1) return "bits";
        if (c.payload == 0) return detail::concat({"affine(", c.per_bit, ", ", c.per_message, ")"});
        double const header = c.per_packet - c.payload;
        if (c.per_bit == 0 && header >= 0 && c.payload + header == c.per_packet)
            return detail::concat({"packets(", c.payload, ", ", header, ", ", c.per_message, ")"});
        return detail::concat({"energy(", c.per_bit, ", ", c.per_packet, ", ", c.payload, ", ", c.per_message, ")"});
    }
};

namespace detail {

inline double price(double value, char const* what) {
    if (!(value >= 0 && std::isfinite(value)))
        throw argument_error(concat({"a cost ", what, " of ", value, ": it is a finite number of at least 0"}));
    return value;
}
inline double at_least_zero(double value, char const* what) {
    if (!(value >= 0 && std::isfinite(value)))
        throw argument_error(concat({value, " ", what, ": it is a finite number of at least 0"}));
    return value;
}
inline double packet_size(double bytes) {
    if (!(bytes >= 1 && std::isfinite(bytes)))
        throw argument_error(concat({"a packet of ", bytes, " bytes: it takes at least 1"}));
    return bytes;
}

}  // namespace detail

/// The cost per_bit x bits + per_message (Khirirat et al., CAT, arXiv:2003.06377: c1 and c0). Like all functions below
/// it throws argument_error for a price that is negative or not finite.
inline message_cost affine_cost(double per_bit, double per_message) {
    return {detail::price(per_bit, "per bit"), 0, 0, detail::price(per_message, "per message")};
}

/// The cost in bytes: each packet that is begun takes payload + header bytes on the link, full or not, and the message
/// takes `fixed` more (CAT's packet model: c1 = payload + header, P_max = payload, c0 = fixed). payload >= 1.
inline message_cost packet_cost(double payload, double header, double fixed) {
    return {0, detail::packet_size(payload) + detail::price(header, "per packet"), payload,
            detail::price(fixed, "per message")};
}

/// The cost in joules, for a radio: per bit, per packet of `payload` bytes that is begun (preamble, header), and
/// `to_wake` per message, to wake the radio up. payload >= 1.
inline message_cost energy_cost(double per_bit, double per_packet, double payload, double to_wake) {
    return {detail::price(per_bit, "per bit"), detail::price(per_packet, "per packet"), detail::packet_size(payload),
            detail::price(to_wake, "per message")};
}

/// The cost in seconds of a radio channel: `rate` bits a second, `preamble` seconds for each packet of `payload` bytes
/// that is begun, and `wait` seconds per message to get the channel. rate > 0, payload >= 1.
inline message_cost air_time_cost(double rate, double preamble, double payload, double wait) {
    if (!(rate > 0))
        throw argument_error(detail::concat({"an air time at ", rate, " bits a second: it takes more than 0"}));
    return energy_cost(1 / rate, preamble, payload, wait);
}

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
    two_way_cost(message_cost up_, message_cost down_, double answer_ = 0, double others_ = 0)
        : up(up_),
          down(down_),
          answer(detail::at_least_zero(answer_, "bits of an answer")),
          others(detail::at_least_zero(others_, "other messages")) {}

    static message_cost free() { return affine_cost(0, 0); }

    double operator()(double bits) const {
        double const first = up(bits) + down(answer);
        return others > 0 ? std::fma(others, down(bits), first) : first;
    }

    bool operator==(two_way_cost const&) const = default;
    friend std::string to_string(two_way_cost const& c) {
        if (c == two_way_cost(c.up)) return to_string(c.up);
        return detail::concat({"two_way(", to_string(c.up), ", ", to_string(c.down),
                               (c.answer == 0 ? "" : detail::concat({", answer=", c.answer})),
                               (c.others == 0 ? "" : detail::concat({", others=", c.others})), ")"});
    }
};

/// The cost on a link that loses each bit independently with probability `loss`, in [0, 1): a message that does not
/// arrive whole is sent again, and so 1 / (1 - loss)^bits times on average. Throws argument_error for another loss, and
/// where `once` has a loss already.
inline message_cost lossy_cost(message_cost once, double loss) {
    if (!(loss >= 0 && loss < 1)) throw argument_error(detail::concat({"a loss of ", loss, ": it is in [0, 1)"}));
    if (once.loss > 0) throw argument_error(detail::concat({"a loss of ", to_string(once), ": it has one already"}));
    once.loss = loss;
    return once;
}

}  // namespace laconic
