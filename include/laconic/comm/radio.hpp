// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "laconic/comm/topology.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"

namespace laconic {

/// How a chain pays for a payload that a rank sends to two neighbours: the rank pays its more costly link, as one
/// broadcast reaches both; or each link of the chain counts once. The authors' programs have either.
enum class radio_pays { farthest_neighbour, each_link_once };

/// The energy of radios in joules, by the formula of Shannon for free space, as in the experiments of GADMM: to send
/// `bits` in `seconds` over a band of B hertz and a distance D, D^2 noise B (2^(bits / seconds / B) - 1) seconds. Half
/// of n ranks send at once and share the band: B = band / (n / 2). Formulas of a paper: no radio has been measured.
struct radio {
    double band = 2e6, noise = 1e-6, seconds = 1e-3;

    /// Over one link, with B hertz.
    double link(double squared_distance, double bits, double hertz) const {
        return squared_distance * noise * hertz * (std::exp2(bits / seconds / hertz) - 1) * seconds;
    }
    /// Of one iteration over a chain of ranks, in this order, each of which sends a payload of so many bits.
    double chain(std::span<position const> at, std::span<int const> order, double bits, radio_pays how) const {
        require_two(at.size());
        double const hertz = band / (static_cast<double>(at.size()) / 2);
        double sum = 0, last = 0;
        for (std::size_t i = 0; i < order.size(); ++i) {
            double const next =
                i + 1 < order.size() ? squared_distance(place(at, order[i]), place(at, order[i + 1])) : 0;
            sum += link(how == radio_pays::farthest_neighbour ? std::max(last, next) : next, bits, hertz);
            last = next;
        }
        return sum;
    }
    /// Of one round with a server, the rank nearest to the middle `centre`: each other rank sends a payload of `up`
    /// bits to it over half the band that a rank of a chain has, and it answers with `down` bits over all of the band,
    /// which the farthest receives.
    double star(std::span<position const> at, position centre, double up, double down) const {
        require_two(at.size());
        std::size_t server = 0;
        for (std::size_t r = 1; r < at.size(); ++r)
            if (squared_distance(at[r], centre) < squared_distance(at[server], centre)) server = r;
        double const n = static_cast<double>(at.size()), hertz = band / (n / 2);
        double sum = 0, farthest = 0;
        for (auto const& each : at) {
            double const away = squared_distance(each, at[server]);
            sum += link(away, up, hertz / 2);
            farthest = std::max(farthest, away);
        }
        return sum + link(farthest, down, n * hertz / 2);
    }

  private:
    static position place(std::span<position const> at, int rank) { return at[static_cast<std::size_t>(rank)]; }
    static void require_two(std::size_t n) {
        if (n < 2) throw argument_error(detail::concat({"radios of ", n, " ranks: at least 2 are needed"}));
    }
};

/// What the authors of GADMM and LAG count as communication: with a server each message to it and one broadcast a
/// round; without one, each transmission (traffic::transmissions).
constexpr double units_of_star(double messages, double rounds) { return messages + rounds; }

}  // namespace laconic
