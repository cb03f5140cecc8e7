// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/core/contract.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"

namespace laconic {

/// Which ranks exchange with each other where there is no server: an undirected connected graph over the ranks from
/// 0 on. Where it is bipartite each rank is a head or a tail, and heads have only tails as neighbours.
class graph {
  public:
    using edge = std::pair<int, int>;

    graph() = default;
    /// Rank `head` becomes a head where the graph is bipartite. Throws argument_error where a rank does not exist, an
    /// edge joins a rank with itself or is listed twice, or some ranks have no path to rank `head`; it names them.
    graph(int ranks, std::vector<edge> const& edges, int head = 0) { assign(ranks, edges, head); }

    /// A chain of all ranks in this order, the first of which is a head.
    static graph chain(std::span<int const> order) {
        graph g;
        g.become_chain(order);
        return g;
    }
    /// The chain 0 - 1 - .. - (n - 1).
    static graph chain(int ranks) {
        std::vector<int> order(static_cast<std::size_t>(std::max(ranks, 0)));
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
        return chain(order);
    }
    /// The chain whose ends are neighbours too; bipartite where the number of ranks is even.
    static graph ring(int ranks) {
        auto all = chain(ranks).edges_;
        if (ranks > 2) all.emplace_back(ranks - 1, 0);
        return {ranks, all};
    }
    /// All ranks are neighbours of the centre, which is the tail.
    static graph star(int ranks, int centre) {
        std::vector<edge> all;
        for (int r = 0; r < ranks; ++r)
            if (r != centre) all.emplace_back(r, centre);
        return {ranks, all, centre == 0 && ranks > 1 ? 1 : 0};
    }

    /// Becomes another graph, as the constructor; allocates nothing where this had as many ranks and edges.
    void assign(int ranks, std::span<edge const> edges, int head = 0) {
        check(ranks, edges, head);
        auto const n = static_cast<std::size_t>(ranks);
        edges_.assign(edges.begin(), edges.end());
        begin_.assign(n + 1, 0);
        for (auto const& [a, b] : edges) ++begin_[at(a) + 1], ++begin_[at(b) + 1];
        for (std::size_t i = 0; i < n; ++i) begin_[i + 1] += begin_[i];
        neighbours_.resize(2 * edges.size());
        place_.assign(begin_.begin(), begin_.end() - 1);
        for (auto const& [a, b] : edges) neighbours_[place_[at(a)]++] = b, neighbours_[place_[at(b)]++] = a;
        for (std::size_t i = 0; i < n; ++i) {
            auto const first = neighbours_.begin() + static_cast<std::ptrdiff_t>(begin_[i]);
            auto const last = neighbours_.begin() + static_cast<std::ptrdiff_t>(begin_[i + 1]);
            std::sort(first, last);
            if (auto const twice = std::adjacent_find(first, last); twice != last)
                throw argument_error({"the graph has the edge ", i, "-", *twice, " twice"});
        }
        color(head);
    }
    /// Becomes a chain of all ranks in this order.
    void become_chain(std::span<int const> order) {
        if (order.empty()) throw argument_error("a chain of no ranks");
        chain_.clear();
        for (std::size_t i = 0; i + 1 < order.size(); ++i) chain_.emplace_back(order[i], order[i + 1]);
        assign(static_cast<int>(order.size()), chain_, order[0]);
    }

    int size() const { return static_cast<int>(side_.size()); }
    /// In increasing order.
    std::span<int const> neighbours(int rank) const {
        return std::span(neighbours_).subspan(begin_[at(rank)], begin_[at(rank) + 1] - begin_[at(rank)]);
    }
    std::size_t degree(int rank) const { return neighbours(rank).size(); }
    std::size_t largest_degree() const {
        std::size_t most = 0;
        for (int r = 0; r < size(); ++r) most = std::max(most, degree(r));
        return most;
    }
    std::span<edge const> edges() const { return edges_; }
    bool is_bipartite() const { return odd_.first == odd_.second; }
    /// Of a bipartite graph.
    bool is_head(int rank) const { return side_[at(rank)] == 0; }
    /// Throws argument_error, which names a cycle of odd length, unless the graph is bipartite.
    void require_bipartite() const {
        if (is_bipartite()) return;
        std::string there, back;  // from their last common ancestor down to both ends of the edge
        int a = odd_.first, b = odd_.second;
        for (; a != b; a = parent_[at(a)], b = parent_[at(b)]) {
            there = detail::concat({"-", a, there});
            back += detail::concat({"-", b});
        }
        throw argument_error(
            {"the graph is not bipartite: it has the odd cycle ", a, there, back, "-", a, ", and heads need tails"});
    }
    /// The weight of a neighbour's number in a rank's next mean, 1 / (1 + the larger degree of both) (Metropolis); what
    /// is left to 1 is that of its own. These weights are symmetric, so that the mean over the ranks is kept.
    double weight(int rank, int neighbour) const {
        return 1 / (1 + static_cast<double>(std::max(degree(rank), degree(neighbour))));
    }
    double own_weight(int rank) const {
        double left = 1;
        for (int const m : neighbours(rank)) left -= weight(rank, m);
        return left;
    }

    friend bool operator==(graph const& a, graph const& b) {
        return a.begin_ == b.begin_ && a.neighbours_ == b.neighbours_ && a.side_ == b.side_;
    }
    friend std::string to_string(graph const& g) {
        std::string text = detail::concat({g.size(), " ranks"});
        for (int r = 0; r < g.size(); ++r)
            for (int const m : g.neighbours(r))
                if (r < m) text += detail::concat({" ", r, "-", m});
        return text + (g.size() == 0 || g.is_head(0) ? "" : ", rank 0 a tail");
    }

  private:
    static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }
    static void check(int ranks, std::span<edge const> edges, int head) {
        if (ranks < 1) throw argument_error({"a graph of ", ranks, " ranks"});
        auto const exists = [ranks](int r) { return r >= 0 && r < ranks; };
        if (!exists(head)) throw argument_error({"a graph of ", ranks, " ranks has no rank ", head});
        for (auto const& [a, b] : edges)
            if (!exists(a) || !exists(b) || a == b)
                throw argument_error({"a graph of ", ranks, " ranks has no edge ", a, "-", b});
    }
    // Breadth first from `head`: 0 for heads, 1 for tails.
    void color(int head) {
        auto const n = begin_.size() - 1;
        side_.assign(n, -1);
        parent_.assign(n, head);
        queue_.assign(1, head);
        queue_.reserve(n);
        odd_ = {0, 0};
        side_[at(head)] = 0;
        for (std::size_t next = 0; next < queue_.size(); ++next) {
            int const r = queue_[next];
            for (int const m : neighbours(r)) {
                if (side_[at(m)] < 0) {
                    side_[at(m)] = 1 - side_[at(r)];
                    parent_[at(m)] = r;
                    queue_.push_back(m);
                } else if (side_[at(m)] == side_[at(r)] && is_bipartite()) {
                    odd_ = {r, m};
                }
            }
        }
        if (queue_.size() == n) return;
        std::string cut;
        for (std::size_t i = 0; i < n; ++i)
            if (side_[i] < 0) cut += detail::concat({cut.empty() ? "" : ", ", i});
        throw argument_error({"the graph is cut: no path from rank ", head, " to ", cut});
    }

    std::vector<edge> edges_, chain_;
    std::vector<std::size_t> begin_, place_;
    std::vector<int> neighbours_, side_, parent_, queue_;
    edge odd_{0, 0};  // an edge whose ends have the same side; of equal ranks where there is none
};

}  // namespace laconic
