// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "laconic/comm/graph.hpp"
#include "laconic/core/description.hpp"
#include "laconic/core/key.hpp"

namespace laconic {

/// Where a rank is, in metres.
struct position {
    double x = 0, y = 0;

    bool operator==(position const&) const = default;
};
inline double squared_distance(position a, position b) { return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y); }

/// How a chain is made from positions: `nearest` appends the nearest rank that is left, beginning with rank 0; `greedy`
/// draws which half of the ranks are heads (rank 0 is one, the last rank none), and appends the nearest tail that is
/// left after a head, the nearest head that is left after a tail. Of equal distances the lower rank counts.
enum class chain_by { nearest, greedy };
constexpr std::array<std::string_view, 2> words_of(chain_by) { return {"nearest", "greedy"}; }

/// Makes chains; reuses its memory.
class chain_builder {
  public:
    /// The order of the ranks in the chain; valid until the next call.
    std::span<int const> operator()(chain_by how, std::span<position const> at, key from) {
        auto const n = at.size();
        order_.clear();
        tail_.assign(n, false);
        used_.assign(n, false);
        if (how == chain_by::greedy) draw_tails(from);
        for (std::size_t next = 0; order_.size() < n;) {
            order_.push_back(static_cast<int>(next));
            used_[next] = true;
            std::size_t best = n;
            double least = std::numeric_limits<double>::infinity();
            for (std::size_t r = 0; r < n; ++r) {
                if (used_[r] || (how == chain_by::greedy && tail_[r] == tail_[next])) continue;
                if (double const away = squared_distance(at[next], at[r]); away < least) least = away, best = r;
            }
            next = best;
        }
        return order_;
    }

  private:
    // floor(n / 2) tails, the last rank and others that are drawn, none of them rank 0.
    void draw_tails(key from) {
        auto const n = tail_.size();
        if (n < 2) return;
        tail_[n - 1] = true;
        std::size_t wanted = n / 2 - 1, left = n - 2;
        for (std::size_t r = 1; r + 1 < n; ++r, --left)
            if (from.below(r, left) < wanted) tail_[r] = true, --wanted;
    }

    std::vector<int> order_;
    std::vector<bool> tail_, used_;
};

/// Who exchanges with whom, and when that changes: `over` (the chain of the ranks in their order where it is empty),
/// or, with refresh > 0, a new chain before each iteration i, counted from 1, for which i mod refresh = 0. The e-th
/// chain, e = floor(i / refresh), is the one after the other of `chains`, or made by `chain` from `positions`, or from
/// positions that are drawn anew each time in a square of 250 m. All of it comes from the seed, and takes no messages.
struct topology {
    graph over{};
    std::uint64_t refresh = 0;
    chain_by chain = chain_by::nearest;
    std::vector<std::vector<int>> chains{};
    std::vector<position> positions{};

    bool operator==(topology const&) const = default;
};

namespace detail {

/// Of a method whose topology is its member `among`.
inline constexpr auto refresh_field = field(
                                          "refresh", [](auto& m) -> auto& { return m.among.refresh; })
                                          .between(0, 1e15)
                                          .by_name();

}  // namespace detail

/// The graphs of a topology for some ranks; reuses its memory.
class graph_schedule {
  public:
    /// Throws argument_error where a graph, a chain or the positions are for another number of ranks, and where there
    /// are both a graph and new chains.
    graph_schedule(topology how, int ranks, key seed) : how_(std::move(how)), seed_(seed) {
        auto const n = static_cast<std::size_t>(ranks);
        if (how_.refresh == 0 && how_.over.size() == 0) how_.over = graph::chain(ranks);
        if (how_.refresh > 0 && how_.over.size() > 0)
            throw argument_error("a topology has either one graph or chains that are refreshed");
        auto const require = [ranks](std::size_t has, char const* what) {
            if (has != static_cast<std::size_t>(ranks))
                throw argument_error({what, " of ", has, " ranks, among ", ranks});
        };
        if (how_.refresh == 0) require(static_cast<std::size_t>(how_.over.size()), "a graph");
        for (auto const& order : how_.chains) require(order.size(), "a chain"), graph::chain(order);
        if (!how_.positions.empty()) require(how_.positions.size(), "positions");
        for (auto const p : how_.positions)
            if (!(std::abs(p.x) <= 1e150 && std::abs(p.y) <= 1e150))
                throw argument_error({"no rank can be at (", p.x, ", ", p.y, ")"});
        at_ = how_.positions;
        at_.resize(n);
    }

    std::uint64_t era_of(std::uint64_t round) const { return how_.refresh == 0 ? 0 : (round + 1) / how_.refresh; }
    void make(std::uint64_t era, graph& g) {
        if (how_.refresh == 0)
            g = how_.over;
        else if (!how_.chains.empty())
            g.become_chain(how_.chains[era % how_.chains.size()]);
        else
            g.become_chain(builder_(how_.chain, positions_of(era), seed_.child(era).child(1)));
    }
    /// Where the ranks are in that era, where its chain is made from positions.
    std::span<position const> positions_of(std::uint64_t era) {
        if (how_.positions.empty())
            for (std::size_t r = 0; r < at_.size(); ++r) {
                auto const from = seed_.child(era);
                at_[r] = {side * from.uniform(2 * r), side * from.uniform(2 * r + 1)};
            }
        return at_;
    }
    /// The most neighbours that a rank has in any era.
    std::size_t largest_degree() const {
        return how_.refresh == 0 ? how_.over.largest_degree() : std::min<std::size_t>(2, at_.size() - 1);
    }
    friend std::string to_string(graph_schedule const& s) {
        if (s.how_.refresh == 0) return to_string(s.how_.over);
        std::string text = detail::concat({"a new chain every ", s.how_.refresh, " rounds"});
        for (auto const& order : s.how_.chains) text += ", " + to_string(graph::chain(order));
        if (s.how_.chains.empty()) text += detail::concat({", ", words_of(s.how_.chain)[std::size_t(s.how_.chain)]});
        for (auto const p : s.how_.positions) text += detail::concat({" (", p.x, ", ", p.y, ")"});
        return text;
    }

  private:
    static constexpr double side = 250;

    topology how_;
    key seed_;
    std::vector<position> at_;
    chain_builder builder_;
};

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
        if (n < 2) throw argument_error({"radios of ", n, " ranks: at least 2 are needed"});
    }
};

}  // namespace laconic
