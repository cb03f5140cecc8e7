// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <concepts>
#include <string>

#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"

namespace laconic {

/// What it costs to send a message. Satisfied iff C is a comparable value, cost(bits) is the price of a message of so
/// many bits, at least 0 and no less for more of them, and to_string(cost) names it.
template <class C>
concept CommunicationCost = std::semiregular<C> && std::equality_comparable<C> && requires(C const& cost, double bits) {
    { cost(bits) } -> std::convertible_to<double>;
    { to_string(cost) } -> std::same_as<std::string>;
};

/// So much for each bit, for each packet that is begun, and for the message as such; all of it again for each time that
/// the message is sent until it has arrived whole. A message of no bits is not sent and costs nothing. The functions
/// below make one. Default: a message costs its bits.
struct message_cost {
    double per_bit = 1, per_packet = 0;
    double payload = 0;  ///< how many bytes of a message go into a packet; 0: there are no packets
    double per_message = 0;
    double loss = 0;  ///< the probability that a bit is lost, and its message with it

    /// How many packets a message of so many bits takes.
    double packets(double bits) const { return payload > 0 ? std::ceil(bits / (8 * payload)) : 0; }
    double operator()(double bits) const {
        if (!(bits > 0)) return 0;
        // Rounded alike with and without fused products: a level turns on it.
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

/// per_bit x bits + per_message (Khirirat et al., CAT, arXiv:2003.06377: c1 and c0). Like all below it throws
/// argument_error for a price that is negative or not finite.
inline message_cost affine_cost(double per_bit, double per_message) {
    return {detail::price(per_bit, "per bit"), 0, 0, detail::price(per_message, "per message")};
}

/// In bytes: each packet that is begun goes over the link as payload + header, full or not, and `fixed` more for the
/// message (CAT's packet model: c1 = payload + header, P_max = payload, c0 = fixed). payload >= 1.
inline message_cost packet_cost(double payload, double header, double fixed) {
    return {0, detail::packet_size(payload) + detail::price(header, "per packet"), payload,
            detail::price(fixed, "per message")};
}

/// In joules, for a radio: for each bit, for each packet of `payload` bytes that is begun (preamble, header), and to
/// wake it up for a message.
inline message_cost energy_cost(double per_bit, double per_packet, double payload, double to_wake) {
    return {detail::price(per_bit, "per bit"), detail::price(per_packet, "per packet"), detail::packet_size(payload),
            detail::price(to_wake, "per message")};
}

/// In seconds of a radio channel: bits at `rate` bits a second, `preamble` seconds for each packet of `payload` bytes
/// that is begun, `wait` seconds to get the channel. rate > 0.
inline message_cost air_time_cost(double rate, double preamble, double payload, double wait) {
    if (!(rate > 0))
        throw argument_error(detail::concat({"an air time at ", rate, " bits a second: it takes more than 0"}));
    return energy_cost(1 / rate, preamble, payload, wait);
}

/// What a message costs together with what comes back for it: `up` for itself, `down` for a server's answer of `answer`
/// bits and for each of `others` messages of about its size, which an all-gather among others + 1 ranks brings. The
/// answer comes for a message of no bits, too. Made of a message_cost alone, nothing that comes back costs anything.
struct two_way_cost {
    message_cost up{}, down = free();
    double answer = 0, others = 0;

    two_way_cost() = default;
    two_way_cost(message_cost up_) : up(up_) {}  // NOLINT: implicit, as a cost of one way is one of both
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

/// On a link that loses each bit with probability `loss`, in [0, 1), by itself: a message that does not arrive whole is
/// sent again, and so 1 / (1 - loss)^bits times on average. Throws argument_error for another loss, or where `once` has
/// one of its own.
inline message_cost lossy_cost(message_cost once, double loss) {
    if (!(loss >= 0 && loss < 1)) throw argument_error(detail::concat({"a loss of ", loss, ": it is in [0, 1)"}));
    if (once.loss > 0) throw argument_error(detail::concat({"a loss of ", to_string(once), ": it has one already"}));
    once.loss = loss;
    return once;
}

}  // namespace laconic
