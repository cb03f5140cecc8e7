// SPDX-License-Identifier: Apache-2.0
// Graphs of ranks: neighbours, heads and tails, Metropolis weights; what is no graph is refused by name.
#include "laconic/comm/graph.hpp"

#include "support/everything.hpp"

using ranks_of_a_graph = std::vector<int>;

ranks_of_a_graph neighbours_in(graph const& g, int rank) {
    auto const m = g.neighbours(rank);
    return {m.begin(), m.end()};
}
std::string refusal_of_graph(auto make) {
    try {
        make();
    } catch (argument_error const& e) {
        return e.what();
    }
    return "";
}

TEST_CASE("a chain in an order of ranks: the first is a head, then they alternate") {
    auto const g = graph::chain(ranks_of_a_graph{2, 0, 3, 1});
    CHECK(neighbours_in(g, 2) == ranks_of_a_graph{0});
    CHECK(neighbours_in(g, 0) == ranks_of_a_graph{2, 3});
    CHECK(neighbours_in(g, 1) == ranks_of_a_graph{3});
    CHECK((g.is_head(2) && !g.is_head(0) && g.is_head(3) && !g.is_head(1)));
    CHECK(g.size() == 4);
    CHECK(g.largest_degree() == 2);
    CHECK(to_string(g) == "4 ranks 0-2 0-3 1-3, rank 0 a tail");
    CHECK(graph::chain(1).size() == 1);
    CHECK(neighbours_in(graph::chain(1), 0).empty());
    CHECK(graph::chain(3) == graph(3, {{2, 1}, {1, 0}}));
    CHECK(!(graph::chain(3) == graph(3, {{2, 1}, {1, 0}}, 1)));
}

TEST_CASE("a ring of an even number of ranks is bipartite, one of an odd number names its cycle") {
    graph::ring(6).require_bipartite();
    CHECK(neighbours_in(graph::ring(6), 0) == ranks_of_a_graph{1, 5});
    auto const odd = graph::ring(5);
    CHECK(!odd.is_bipartite());
    CHECK(refusal_of_graph([&] { odd.require_bipartite(); }) ==
          "the graph is not bipartite: it has the odd cycle 0-1-2-3-4-0, and heads need tails");
    graph const triangle(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 2}});
    CHECK(refusal_of_graph([&] { triangle.require_bipartite(); }) ==
          "the graph is not bipartite: it has the odd cycle 2-3-4-2, and heads need tails");
    CHECK(graph::ring(2) == graph::chain(2));
}

TEST_CASE("a star: the centre is the tail, whichever rank it is") {
    for (int const centre : {0, 2, 4}) {
        auto const g = graph::star(5, centre);
        g.require_bipartite();
        for (int r = 0; r < 5; ++r) CHECK(g.is_head(r) == (r != centre));
        CHECK(g.degree(centre) == 4);
    }
}

TEST_CASE("what is no connected graph is refused, by name") {
    CHECK(refusal_of_graph([] {
              graph(5, {{0, 1}, {2, 3}, {3, 4}});
          }) == "the graph is cut: no path from rank 0 to 2, 3, 4");
    CHECK(refusal_of_graph([] { graph(2, {}, 1); }) == "the graph is cut: no path from rank 1 to 0");
    CHECK(refusal_of_graph([] { graph(2, {{0, 2}}); }) == "a graph of 2 ranks has no edge 0-2");
    CHECK(refusal_of_graph([] { graph(2, {{0, 1}, {1, 1}}); }) == "a graph of 2 ranks has no edge 1-1");
    CHECK(refusal_of_graph([] { graph(2, {{0, 1}, {1, 0}}); }) == "the graph has the edge 0-1 twice");
    CHECK(refusal_of_graph([] { graph(0, {}); }) == "a graph of 0 ranks");
    CHECK(refusal_of_graph([] { graph(2, {{0, 1}}, 2); }) == "a graph of 2 ranks has no rank 2");
    CHECK(refusal_of_graph([] { graph::chain(ranks_of_a_graph{0, 1, 0}); }) == "the graph has the edge 0-1 twice");
    CHECK(refusal_of_graph([] { graph::chain(0); }) == "a chain of no ranks");
}

TEST_CASE("Metropolis weights are symmetric, and each rank's sum to 1") {
    graph const g(5, {{0, 1}, {0, 2}, {0, 3}, {3, 4}});
    CHECK(g.weight(0, 1) == 0.25);
    CHECK(g.weight(3, 4) == 1 / 3.);
    CHECK(g.own_weight(0) == 0.25);
    CHECK(g.own_weight(1) == 0.75);
    for (auto const& [a, b] : g.edges()) CHECK(g.weight(a, b) == g.weight(b, a));
}

TEST_CASE("a graph becomes another") {
    auto g = graph::ring(5);
    g.become_chain(ranks_of_a_graph{4, 3, 2, 1, 0});
    g.require_bipartite();
    CHECK(g == graph(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}}, 4));
}
