// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "laconic/compress/compressor.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/core/clock.hpp"
#include "laconic/core/cost.hpp"
#include "laconic/wire/message.hpp"

namespace laconic {

namespace detail {

// Writes a number with three digits and the unit, up to `largest`, that leaves 1 to 3 of them before the point.
inline std::string with_unit(double x, char const* unit, double largest = 1e9) {
    struct {
        double size;
        char const* prefix;
    } static constexpr steps[] = {{1e9, "G"},  {1e6, "M"},  {1e3, "k"},  {1, ""},
                                  {1e-3, "m"}, {1e-6, "u"}, {1e-9, "n"}, {1e-12, "p"}};
    auto const* step = std::find_if(std::begin(steps), std::end(steps),
                                    [&](auto const& s) { return s.size <= largest && x >= 0.9995 * s.size; });
    double const size = step == std::end(steps) ? 1 : step->size;
    char text[32];
    auto const r = std::to_chars(text, text + sizeof text, x / size, std::chars_format::general, 3);
    return concat({std::string(text, r.ptr), " ", (step == std::end(steps) ? "" : step->prefix), unit});
}

// Draws a vector that resembles a gradient: numbers of either sign whose magnitudes fall off exponentially.
template <Scalar T>
std::vector<T> drawn_gradient(key from, std::size_t n) {
    std::vector<T> x(n);
    for (std::size_t i = 0; i < n; ++i) {
        double const u = 2 * from.uniform(i) - 1;
        x[i] = static_cast<T>(std::copysign(std::log1p(-std::abs(u)), u));
    }
    return x;
}

}  // namespace detail

/// The seconds that a round takes: by the dense mean of all workers' vectors, and with messages.
struct payoff {
    std::string compressor;
    std::size_t dimension = 0, measured = 0;  ///< of the vectors, and of those that were timed
    int workers = 1;
    double dense_bits = 0, bits = 0;          ///< of a dense vector, and of a message about it
    double computing = 0;                     ///< seconds of computing during which the dense sum travels
    double dense = 0;                         ///< seconds for the dense sum, beyond those
    double encode = 0, send = 0, decode = 0;  ///< seconds for this rank's message; for all messages; for all messages
    bool pays = false;
    /// The seconds per bit at which both take the same time, all other costs of the link unchanged; none if there is no
    /// such value.
    std::optional<double> break_even;

    /// Whether messages pay above that price rather than below, as they send fewer bits than dense vectors.
    bool dearer_bits_help = false;

    double with_messages() const { return encode + send + decode; }

    /// The answer with its reason, in one line.
    std::string why() const {
        if (workers == 1) return "no: one worker sends nothing";
        auto const time = [](double seconds) { return detail::with_unit(seconds, "s", 1); };
        std::string text =
            detail::concat({(pays ? "yes: a dense sum of " : "no: a dense sum of "),
                            dense_bits / static_cast<double>(dimension), " bits a number takes ", time(dense),
                            (computing > 0 ? " more than the " + time(computing) + " of computing meanwhile" : ""),
                            ", with ", compressor, " a round takes ", time(with_messages()), ", of which ",
                            time(encode), " to encode, ", time(send), " to send and ", time(decode), " to decode"});
        if (!pays && encode + decode >= dense) text += ": too much even were sending free";
        if (break_even)
            text += detail::concat({"; it pays where a bit takes ", (dearer_bits_help ? "more" : "less"), " than ",
                                    time(*break_even), " (", detail::with_unit(1 / *break_even, "bit/s"), ")"});
        else
            text += pays ? "; it pays whatever a bit takes" : "; it does not, whatever a bit takes";
        if (measured < dimension) text += detail::concat({" (measured on ", measured, " of ", dimension, " numbers)"});
        return text;
    }
};

/// How would_it_pay measures.
struct pay_measurement {
    double seconds = 0.5;                        ///< no repetition begins after so many; the first two always do
    std::size_t longest = std::size_t{1} << 22;  ///< of longer vectors a part is timed
    key from{};                                  ///< the key of all that is drawn
    double bits_of_a_number = 16;  ///< in the dense sum: 16 as of bf16 over a ring or two_shot, 32 of float
    double computing = 0;  ///< seconds, of the backward pass, during which the dense sum travels; messages do not
};

namespace detail {

struct message_speed {
    double encode, decode, bits;
};

// The quickest of several repetitions on n numbers, after one that allocates the memory and gives the bits.
template <Scalar T, class B, Compressor<T> C, Clock Now>
message_speed time_one_message(C const& compressor, std::size_t n, pay_measurement const& how, Now& clock) {
    constexpr std::uint64_t most = 20;
    B on;
    auto const x = drawn_gradient<T>(how.from.child(0), n);
    std::vector<T> sum(n);
    message_of<C, T, B> mine, theirs;
    wire::bit_writer sink;
    auto const infinity = std::numeric_limits<double>::infinity();
    message_speed best{infinity, infinity, 0};
    double const begin = clock();
    for (std::uint64_t k = 0;; ++k) {
        auto const from = how.from.child(1).child(k);
        double const start = clock();
        compressor(on, std::span<T const>(x), from, mine);
        sink.clear();
        write(sink, mine);
        auto const bytes = sink.finish();
        double const encoded = clock();
        compressor.blank(on, n, from, theirs);
        wire::bit_reader source(bytes);
        read(on, source, theirs, compressor);
        source.finish();
        add_message(on, std::span<T>(sum), T(1), theirs);
        double const decoded = clock();
        if (k == 0) {
            best.bits = 8.0 * static_cast<double>(bytes.size());
            continue;
        }
        best.encode = std::min(best.encode, encoded - start);
        best.decode = std::min(best.decode, decoded - encoded);
        if (k == most || !(decoded - begin < how.seconds)) return best;
    }
}

// The same for d numbers from measurements of fewer: times in proportion, bits along a line through two lengths, as a
// count such as top_k{100} does not grow with d.
template <Scalar T, class B, Compressor<T> C, Clock Now>
message_speed speed_of_messages(C const& compressor, std::size_t d, pay_measurement const& how, Now& clock) {
    if (d <= how.longest) return time_one_message<T, B>(compressor, d, how, clock);
    std::size_t const n = how.longest, shorter = n / 2;
    try {
        compressor.check(n);
        compressor.check(shorter);
    } catch (argument_error const& e) {
        throw argument_error({to_string(compressor), " suits vectors of ", d, " numbers and not the ", n, " and ",
                              shorter, " that are measured: ", e.what()});
    }
    auto const whole = time_one_message<T, B>(compressor, n, how, clock);
    pay_measurement once = how;
    once.seconds = 0;
    auto const part = time_one_message<T, B>(compressor, shorter, once, clock);
    double const more = static_cast<double>(d - n),
                 growth = (whole.bits - part.bits) / static_cast<double>(n - shorter);
    double const times = static_cast<double>(d) / static_cast<double>(n);
    return {times * whole.encode, times * whole.decode, std::max(0.0, whole.bits + more * growth)};
}

// Computes all times of a round from the measured speed: gather_all against a ring's all-reduce.
inline void price_rounds(payoff& p, message_cost const& link, message_speed const& speed) {
    double const n = p.workers, d = p.dense_bits / n;
    auto const dense = [&](message_cost const& c) { return 2 * (n - 1) * c(d); };
    auto const send = [&](message_cost const& c) { return (n - 1) * c(p.bits); };
    p.bits = speed.bits;
    p.dense = std::max(0.0, dense(link) - p.computing);
    p.encode = speed.encode;
    p.send = send(link);
    p.decode = n * speed.decode;
    p.pays = p.with_messages() < p.dense;
    message_cost free_bits = link, only_bits{1, 0, 0, 0, link.loss};
    free_bits.per_bit = 0;
    double const saved = dense(only_bits) - send(only_bits);  // where a bit costs 1
    double const price = (p.encode + p.decode + send(free_bits) + p.computing - dense(free_bits)) / saved;
    p.dearer_bits_help = saved > 0;
    if (price > 0 && std::isfinite(price)) p.break_even = price;
}

}  // namespace detail

/// Whether compression pays on a link: n workers, each with a vector of d numbers, compute the mean of all. With
/// messages each encodes one, sends it to all others and decodes all n, as gather_all does: the transfer takes (n - 1)
/// link(b), b being the bits of a message. The dense sum is a ring's or two_shot's, 2 (n - 1) link(bits / n), of 16
/// bits a number by default, which training rarely needs more than, and without the time of rounding and additions. All
/// ranks send and receive at the same time. If the dense sum of a training loop travels while the backward pass goes
/// on, give the seconds of that as `computing`: what the sum takes beyond them counts. Messages are made of a whole
/// gradient, and nothing is computed meanwhile; in a reducer with several layers, those of the first also travel.
/// link(bits) is the seconds from one worker to one other, such as that of measure_cost through between_two. Encoding
/// and decoding are timed by this call, on one thread, with a vector that is drawn. It does not consider whether
/// compression takes more rounds. Throws argument_error for d = 0, no workers and a compressor that does not suit d.
template <Scalar T = float, Compressor<T> C = top_k<>, Clock Now = monotonic_clock, class B = host>
payoff would_it_pay(message_cost const& link, std::size_t d, int workers, C const& compressor = C{0.01},
                    pay_measurement const& how = {}, Now clock = {}) {
    if (d < 1) throw argument_error("would_it_pay: a vector of 0 numbers");
    if (workers < 1) throw argument_error({workers, " workers: at least one is needed"});
    if (!(how.seconds >= 0)) throw argument_error({"would_it_pay: ", how.seconds, " seconds to measure"});
    if (!(how.bits_of_a_number > 0 && std::isfinite(how.bits_of_a_number)))
        throw argument_error({"would_it_pay: ", how.bits_of_a_number, " bits of a number in the dense sum"});
    if (!(how.computing >= 0 && std::isfinite(how.computing)))
        throw argument_error({"would_it_pay: ", how.computing, " seconds of computing"});
    if (how.longest < 2) throw argument_error("would_it_pay: a vector of 2 numbers or more is measured");
    detail::check_by_name(compressor, d);
    payoff p;
    p.compressor = to_string(compressor);
    p.dimension = d;
    p.measured = std::min(d, how.longest);
    p.workers = workers;
    p.computing = how.computing;
    p.dense_bits = how.bits_of_a_number * static_cast<double>(d);
    detail::price_rounds(p, link, detail::speed_of_messages<T, B>(compressor, d, how, clock));
    return p;
}

}  // namespace laconic
