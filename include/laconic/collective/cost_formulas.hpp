// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "laconic/collective/dense/halving_doubling.hpp"
#include "laconic/collective/dense/omni_reduce.hpp"
#include "laconic/collective/dense/ring.hpp"
#include "laconic/collective/sparse/gathered_sum.hpp"
#include "laconic/collective/sparse/recursive_doubling.hpp"
#include "laconic/collective/sparse/split_all_gather.hpp"
#include "laconic/comm/network.hpp"

/// How long the library's own lists of terms are, on the average over coordinates that are drawn evenly and apart from
/// each other. All counts are real numbers of at least 0.
namespace laconic::detail {

/// How many of d coordinates any of m ranks has, each of which has k of them: d (1 - (1 - k / d)^m).
inline double expected_union(double d, double k, double m) {
    if (!(d > 0)) return 0;
    return k >= d ? d : -d * std::expm1(m * std::log1p(-k / d));
}

// The width of a number of up to n.
inline double width_of_real(double n) { return n < 1 ? 0 : std::floor(std::log2(n)) + 1; }

// Of `count` numbers n >= 0 with P(n >= j) = q^j, by the best Rice code: n is at least i 2^r with q^(i 2^r).
inline double rice_bits(double count, double q) {
    double least = std::numeric_limits<double>::infinity();
    for (unsigned r = 0; r <= largest_rice_parameter; ++r) {
        double const tail = std::pow(q, std::exp2(r));
        least = std::min(least, 1 + r + (tail < 1 ? tail / (1 - tail) : std::numeric_limits<double>::infinity()));
    }
    return rice_parameter_width + count * least;
}

// The same numbers in groups, each as wide as its largest.
inline double packed_bits(double count, double q) {
    double const group = std::min(count, double{gaps_in_group});
    double width = 0;
    for (unsigned w = 0; w < largest_rice_parameter; ++w) width += 1 - std::pow(1 - std::pow(q, std::exp2(w)), group);
    return std::ceil(count / group) * gap_width_width + count * width;
}

/// Bits of n of `length` coordinates: of the code that is shortest on the average, and its name.
inline double expected_support_bits(double length, double n, position_code how = position_code::smallest) {
    if (!(n > 0 && n < length)) return 0;
    double const q = 1 - n / length;
    double bits = std::min({n * detail::width_of_real(length - 1), length, detail::packed_bits(n, q)});
    if (how == position_code::smallest) {
        bits = std::min(bits, detail::rice_bits(n, q));
        if (double const runs = std::max(1.0, n * q); 2 * runs <= n)
            bits = std::min(bits, detail::rice_bits(runs, q) + detail::rice_bits(runs, 1 - q));
    }
    return detail::support_code_width + bits;
}

/// Bits of a sparse_sum that has n of `length` terms, of so many bits a value.
inline double expected_list_bits(double length, double n, double bits_per_value = 32,
                                 position_code how = position_code::smallest) {
    return detail::width_of_real(length) + expected_support_bits(length, n, how) + n * bits_per_value;
}

}  // namespace laconic::detail

namespace laconic {

/// Seconds that each collective takes over a network when all ranks begin together: the alpha-beta model with alpha =
/// latency + overhead, beta = seconds_per_bit of the library's own messages, and what is read at the end of each
/// message: formulas(ring{}), and so on. Where messages are not as long by chance as on the average, the time is the
/// slowest rank's. One rank takes no time.
class cost_formulas {
  public:
    /// The vectors that a collective adds up: k of d numbers of each rank, at coordinates that do not depend on the
    /// other ranks'. Counts are real numbers.
    struct load {
        double d = 0, k = 0;
        int ranks = 1;
        double bits_per_value = 32;
        position_code positions = position_code::smallest;
        double blocks = -1;  ///< a rank's blocks of `block` numbers that are not all 0; below 0: those of k drawn terms
        double block = 256;

        /// Throws argument_error unless 0 <= k <= d, there is a rank, and blocks hold something.
        void check() const {
            if (!(d >= 0 && std::isfinite(d) && k >= 0 && k <= d))
                throw argument_error({"a collective of ", k, " terms of ", d, " numbers"});
            if (ranks < 1 || !(block >= 1) || !(bits_per_value > 0) || !(blocks <= std::ceil(d / block)))
                throw argument_error({"a collective among ", ranks, " ranks, of ", blocks, " blocks of ", block,
                                      " numbers of ", bits_per_value, " bits"});
        }
    };

    /// The seconds that a rank takes to read a term of a list, to merge it, and to read a number of a vector in full.
    struct reading_cost {
        double per_term = 0, per_number = 0;
        bool operator==(reading_cost const&) const = default;
    };

    /// Throws argument_error for a load or prices that make no sense.
    cost_formulas(network const& net, load const& what, reading_cost const& reading)
        : net_(net), what_(what), reading_(reading), p_(what.ranks) {
        net.check();
        what.check();
        for (double const v : {reading.per_term, reading.per_number})
            if (!(v >= 0 && std::isfinite(v)))
                throw argument_error({"reading that takes ", v, " seconds: at least 0, and finite"});
    }
    cost_formulas(network const& net, load const& what) : cost_formulas(net, what, reading_cost()) {}

    /// Every rank's list to all ranks, ceil(log2 P) messages of 1, 2, 4, .. lists (Bruck): gathered_sum.
    double operator()(gathered_sum const&) const {
        return gathered([&](double lists) { return step(lists * list(what_.d, what_.k), lists * what_.k); });
    }
    /// The same in P - 1 steps around a ring, as delayed's all_gather.
    double operator()(gather_all const&) const { return (p_ - 1) * step(list(what_.d, what_.k), what_.k); }

    /// Lists of the terms of 1, 2, 4, .. ranks. Where P is no power of two, some are longer than others and some ranks
    /// begin later: then each rank's time is followed.
    double operator()(recursive_doubling const&) const {
        auto const paired = static_cast<std::size_t>(power()), beyond = static_cast<std::size_t>(p_) - paired;
        if (beyond > 0) return followed_doubling(paired, beyond);
        double sum = 0;
        for (double ranks = 1; ranks < p_; ranks *= 2) sum += step(list(what_.d, of(ranks)), of(ranks));
        return sum;
    }

    /// P - 1 parts in flight at once, then an all-gather of their sums.
    double operator()(split_all_gather const& how) const {
        if (p_ == 1) return 0;
        double const part = what_.d / p_, received = at_once(list(part, what_.k / p_), what_.k / p_);
        if (how.then == split_all_gather::second_stage::sparse) return received + gathered_parts(part, of(p_) / p_);
        return received + gathered([&](double parts) { return step_in_full(parts * part); });
    }

    /// 2 (P - 1) parts of P, one after another; of several pieces each is handed on while the next comes.
    double operator()(ring const&) const {
        if (p_ == 1) return 0;
        double const part = std::ceil(what_.d / p_), steps = 2 * (p_ - 1), all = busy_in_full(part);
        double const first = busy(std::min(part * what_.bits_per_value, 8.0 * detail::longest_piece));
        double const sent = net_.half_duplex
                                ? steps * both(net_.latency, all)
                                : std::max(net_.latency + steps * all, steps * (net_.latency + first) + all - first);
        return sent + steps * part * reading_.per_number;
    }
    /// Halves, quarters, .. of the numbers, and back.
    double operator()(halving_doubling const&) const {
        double const paired = power();
        double sum = p_ > paired ? 2 * (net_.latency + busy_in_full(what_.d) + reading_.per_number * what_.d) : 0;
        for (double share = paired / 2; share >= 1; share /= 2)
            sum += 2 * step_in_full(std::ceil(what_.d / paired) * share);
        return sum;
    }

    /// Of a collective that has its own formula.
    double operator()(auto const& how) const { return how.seconds(*this); }

    /// Blocks that are not 0 to those who add them up, and their sums to all, P - 1 messages at once each and for each
    /// chunk; the first chunks' sums go while the last chunk's blocks come. Blocks are those of the load.
    double operator()(omni_reduce const&) const {
        if (p_ == 1) return 0;
        auto const chunks =
            static_cast<double>(detail::omni_chunks(static_cast<std::size_t>(what_.d), static_cast<std::size_t>(p_)));
        double const all = std::ceil(what_.d / what_.block), rows = std::ceil(all / p_);
        double const own = what_.blocks >= 0 ? what_.blocks : all * (1 - std::pow(1 - what_.k / what_.d, what_.block));
        double sent[2], reading = 0;  // the seconds of a chunk's messages
        for (int stage = 0; stage < 2; ++stage) {
            double const blocks = stage == 0 ? own : detail::expected_union(all, own, p_);
            double const count = all > 0 ? blocks / p_ / chunks : 0, numbers = count * std::min(what_.block, what_.d);
            sent[stage] = (p_ - 1) * busy(8 * std::max(1.0, std::ceil(detail::width_of_real(count) / 7)) +
                                          detail::expected_support_bits(rows / chunks, count, what_.positions) +
                                          numbers * what_.bits_per_value);
            reading += chunks * (p_ - 1) * numbers * reading_.per_number;
        }
        if (net_.half_duplex)
            return both(net_.latency, chunks * sent[0]) + both(net_.latency, chunks * sent[1]) + reading;
        double const first_sum = std::max(chunks * sent[0], sent[0] + net_.latency),
                     last_sum = std::max(first_sum + (chunks - 1) * sent[1], chunks * sent[0] + net_.latency);
        return last_sum + sent[1] + net_.latency + reading;
    }

    // What the formulas of other collectives use, too: how many they are, and what they bring;
    double ranks() const { return p_; }
    load const& what() const { return what_; }
    // the bits of a list of n terms of `length` numbers;
    double list(double length, double n) const {
        return detail::expected_list_bits(length, n, what_.bits_per_value, what_.positions);
    }
    // the seconds of a message of so many bits and terms that comes while none goes, and while one as long goes;
    double hop(double bits, double terms) const { return net_.latency + busy(bits) + terms * reading_.per_term; }
    double step(double bits, double terms) const { return both(net_.latency, busy(bits)) + terms * reading_.per_term; }
    // of P - 1 messages, one behind the other, and as many that come;
    double at_once(double bits, double terms) const {
        return both(net_.latency, (p_ - 1) * busy(bits)) + (p_ - 1) * terms * reading_.per_term;
    }
    // of an all-gather of so many terms of a part.
    double gathered_parts(double part, double terms) const {
        return gathered([&](double parts) { return step(parts * list(part, terms), parts * terms); });
    }

  private:
    double of(double ranks) const { return detail::expected_union(what_.d, what_.k, ranks); }
    double power() const { return std::exp2(std::floor(std::log2(p_))); }
    double busy(double bits) const { return net_.busy(static_cast<std::size_t>(std::ceil(bits / 8))); }
    double both(double latency, double seconds) const {
        return net_.half_duplex ? std::max(latency + seconds, 2 * seconds) : latency + seconds;
    }
    // Numbers in full go in pieces.
    double pieces(double n) const {
        return std::max(1.0, std::ceil(n * what_.bits_per_value / (8.0 * detail::longest_piece)));
    }
    double busy_in_full(double n) const { return busy(n * what_.bits_per_value) + (pieces(n) - 1) * net_.overhead; }
    // By turns: who has sent as many pieces as it may waits for one.
    double step_in_full(double n) const {
        double const all = busy_in_full(n), of_each = all / pieces(n);
        double const waits = std::floor((pieces(n) - 1) / detail::pieces_ahead);
        double const by_turns = net_.latency + all - waits * ((detail::pieces_ahead - 1) * of_each - net_.latency);
        return std::max(both(net_.latency, all), by_turns) + n * reading_.per_number;
    }
    double followed_doubling(std::size_t paired, std::size_t beyond) const {
        std::vector<detail::port_clock> all(paired);
        std::vector<double> there(paired);
        double const first = busy(list(what_.d, what_.k)), last = busy(list(what_.d, of(p_)));
        for (std::size_t r = 0; r < beyond; ++r) {
            all[r].receive(first + net_.latency, first);
            all[r].now += what_.k * reading_.per_term;
        }
        for (std::size_t distance = 1; distance < paired; distance *= 2) {
            // All ranks of a group have added up the same; up to one group has some with a partner and some without.
            std::vector<double> terms, seconds;
            for (std::size_t g = 0; g < paired; g += distance) {
                std::size_t const ranks = distance + std::min(beyond - std::min(beyond, g), distance);
                terms.push_back(of(static_cast<double>(ranks)));
                seconds.push_back(g > 0 && terms[terms.size() - 2] == terms.back() ? seconds.back()
                                                                                   : busy(list(what_.d, terms.back())));
            }
            for (std::size_t r = 0; r < paired; ++r) there[r] = all[r].send(net_, seconds[r / distance]);
            for (std::size_t r = 0; r < paired; ++r) {
                std::size_t const other = (r ^ distance) / distance;
                all[r].receive(there[r ^ distance], seconds[other]);
                all[r].now += terms[other] * reading_.per_term;
            }
        }
        double end = 0;
        for (std::size_t r = 0; r < paired; ++r)
            end = std::max(end, r < beyond ? all[r].send(net_, last) + of(p_) * reading_.per_term : all[r].now);
        return end;
    }
    // Of how many ranks each step carries the terms.
    double gathered(auto step_of) const {
        double sum = 0;
        for (double distance = 1; distance < p_; distance *= 2) sum += step_of(std::min(distance, p_ - distance));
        return sum;
    }

    network net_;
    load what_;
    reading_cost reading_;
    double p_;
};

}  // namespace laconic
