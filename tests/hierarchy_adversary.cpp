// SPDX-License-Identifier: Apache-2.0
// A mistake, damage or a drop on any rank of a hierarchy is an error on all of its ranks or changes nothing.
#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"
#include "support/passed_on.hpp"

// That one rank of one node alone has made a mistake, is at another step or has a broken collective: all ranks of all
// nodes know, and none waits for another.

// PointToPoint, not Splitting: what it hands over may lack a byte.
struct faulty : passed_on<fibers::member> {
    bool* lacks = nullptr;

    payload exchange(int to, payload c, int from) {
        auto theirs = inner->exchange(to, c, from);
        if (from != no_rank && lacks && *lacks && theirs.bytes.size() > 1) {
            *lacks = false;
            theirs.bytes = theirs.bytes.first(theirs.bytes.size() - 1);
        }
        return theirs;
    }
};

// How body(nodes, comm) ends on each of n ranks, per_node a node: the text of its error, or "nothing".
std::vector<std::string> outcomes(int n, int per_node, auto body) {
    std::vector<std::string> all(static_cast<std::size_t>(n));
    fibers::run(n, [&](fibers::member& comm) {
        auto inside = comm.split(comm.rank() / per_node, 0), across = comm.split(comm.rank() % per_node, 0);
        hierarchy nodes{inside, across};
        auto& mine = all[static_cast<std::size_t>(comm.rank())];
        try {
            body(nodes, comm);
            mine = "nothing";
        } catch (agreement_error const& e) {
            mine = std::string("agreement: ") + e.what();
        } catch (argument_error const& e) {
            mine = std::string("argument: ") + e.what();
        } catch (error const& e) {
            mine = e.what();
        }
    });
    return all;
}
bool all_start(std::vector<std::string> const& all, std::string const& with) {
    for (auto const& text : all)
        if (text.find(with) != 0) return false;
    return !all.empty();
}
auto made(auto& nodes, std::size_t d = 16) {
    return reducer<error_feedback<top_k<>>, std::remove_cvref_t<decltype(nodes)>>(error_feedback{top_k{0.25}}, nodes,
                                                                                  d);
}
void steps(auto& reduce, int rank, int n) {
    std::vector<float> g(16);
    for (int k = 0; k < n; ++k) {
        for (auto& v : g) v = float(rank + k);
        reduce(g);
    }
}

TEST_CASE("hierarchy: it is made on all ranks or on none") {
    CHECK(all_start(outcomes(5, 2, [](auto& nodes, auto&) { made(nodes); }),
                    "agreement: "));  // the last node has one rank
    for (int const culprit : {0, 1, 3})
        CHECK(all_start(outcomes(4, 2, [&](auto& nodes, auto& comm) { made(nodes, comm.rank() == culprit ? 17 : 16); }),
                        "agreement: "));
    // Rank 3 has another k, none that suits, or a rebind brings it to others.
    for (bool const rebound : {false, true})
        CHECK(all_start(outcomes(4, 2,
                                 [&](auto& nodes, auto& comm) {
                                     auto own = comm.split(comm.rank(), 0), alone = comm.split(comm.rank(), 0);
                                     using how = error_feedback<top_k<>>;
                                     how const mine{top_k{comm.rank() == 3 ? 3 : 2}};
                                     using over = std::remove_cvref_t<decltype(nodes)>;
                                     if (!rebound) return static_cast<void>(reducer<how, over>(mine, nodes, 16));
                                     reducer<how, over> one(mine, over{own, alone}, 16);
                                     one.rebind(nodes);
                                 }),
                        rebound ? "agreement: a rank that was 0 of 1 in its node cannot go on"
                                : "agreement: ranks disagree: rank 1 has \"the vector: 8 numbers, "
                                  "error_feedback(top_k(2))\", rank 3 has \"the vector: 8 numbers, "
                                  "error_feedback(top_k(3))\""));
    CHECK(all_start(
        outcomes(6, 2,
                 [](auto& nodes, auto& comm) {  // in nodes of their own first, then in others
                     bool const odd = comm.rank() / 2 == 2;
                     auto apart = comm.split(comm.rank() % 2 + (odd ? 2 : 0), 0);
                     using how = error_feedback<top_k<>>;
                     using over = std::remove_cvref_t<decltype(nodes)>;
                     reducer<how, over> one(how{top_k{odd ? 3 : 2}}, over{nodes.inside, apart}, 16);
                     one.rebind(nodes);
                 }),
        "agreement: ranks disagree: rank 0 has \"the vector: 8 numbers, error_feedback(top_k(2))\", rank 4 has"));
    CHECK(all_start(outcomes(4, 2,
                             [](auto& nodes, auto& comm) {
                                 reducer(error_feedback{top_k{comm.rank() == 3 ? 9 : 2}}, nodes, std::size_t{16});
                             }),
                    "argument: rank 3: "));
    // k suits the larger shares only.
    auto const uneven =
        outcomes(4, 2, [](auto& nodes, auto&) { reducer(error_feedback{top_k{3}}, nodes, std::size_t{5}); });
    CHECK(all_start(
        uneven,
        "argument: rank 0: top_k(3): k = 3 is above the dimension d = 2; a fraction, such as 0.1, suits every length"
        " (this rank has 2 of its 5 numbers)"));
    CHECK(all_start(outcomes(4, 2, [](auto& nodes, auto&) { reducer(plain{}, nodes, 5, {.in_full = {"*.bias"}}); }),
                    "argument: rank 0: in_full: the pattern \"*.bias\" matches no layer; their names are \"\""));
}

TEST_CASE("hierarchy: it is rebound on all ranks or on none") {
    auto const swapped = outcomes(6, 3, [](auto& nodes, auto& comm) {
        auto reduce = made(nodes);
        steps(reduce, comm.rank(), 2);
        int const key = comm.rank() == 0 ? 1 : comm.rank() == 1 ? 0 : comm.rank();
        auto inside = comm.split(comm.rank() / 3, key), across = comm.split(inside.rank(), 0);
        std::string why;
        try {
            reduce.rebind(hierarchy{inside, across});
        } catch (agreement_error const& e) {
            why = e.what();
        }
        steps(reduce, comm.rank(), 2);  // it is as it was
        if (!why.empty()) throw agreement_error(-1, why);
    });
    CHECK(all_start(swapped, "agreement: "));
    // The communicators of before may be gone.
    CHECK(all_start(outcomes(4, 2,
                             [](auto& nodes, auto& comm) {
                                 using own = hierarchy<faulty, faulty>;
                                 auto in = std::make_unique<faulty>(faulty{{&nodes.inside}});
                                 auto over = std::make_unique<faulty>(faulty{{&nodes.across}});
                                 reducer<error_feedback<top_k<>>, own> reduce(error_feedback{top_k{0.25}},
                                                                              own{*in, *over}, std::size_t{16});
                                 steps(reduce, comm.rank(), 2);
                                 in.reset(), over.reset();
                                 faulty new_in{{&nodes.inside}}, new_over{{&nodes.across}};
                                 reduce.rebind(own{new_in, new_over});
                                 steps(reduce, comm.rank(), 2);
                             }),
                    "nothing"));
}

TEST_CASE("hierarchy: states of different steps are refused on all ranks, whichever shares they are of") {
    std::vector<std::vector<std::byte>> early(4), late(4);
    outcomes(4, 2, [&](auto& nodes, auto& comm) {
        auto reduce = made(nodes);
        steps(reduce, comm.rank(), 2);
        early[std::size_t(comm.rank())] = reduce.save();
        steps(reduce, comm.rank(), 2);
        late[std::size_t(comm.rank())] = reduce.save();
    });
    auto mixed = late;
    mixed[1] = early[1], mixed[3] = early[3];
    CHECK(all_start(outcomes(4, 2,
                             [&](auto& nodes, auto& comm) {
                                 auto reduce = made(nodes);
                                 reduce.restore(mixed);
                                 steps(reduce, comm.rank(), 1);
                             }),
                    "agreement: rank 1 has taken 2 steps, rank 0 4"));
    CHECK(all_start(outcomes(4, 2,
                             [&](auto& nodes, auto&) {
                                 auto reduce = made(nodes);
                                 std::vector<float> g(16, 1.0f);
                                 reduce.start(0, g);
                                 reduce.restore(late);
                             }),
                    "argument: a step is under way"));
}

TEST_CASE("hierarchy: a gradient that overflows as it is scaled or weighted is not finite, on the rank that has it") {
    float const huge = 3e38f;
    for (bool const by_weight : {false, true}) {
        auto const all = outcomes(4, 2, [&](auto& nodes, auto& comm) {
            reducer reduce(plain{}, nodes, std::size_t{8}, {.steps_vary = by_weight});
            std::vector<float> g(8, 1.0f);
            if (comm.rank() == 3) g[2] = huge;  // which another rank of the node adds up
            step_options now;
            if (by_weight)
                now.weight = comm.rank() == 3 ? 10 : 1;
            else
                now.loss_scale = 0.5;
            reduce(g, now);
        });
        CHECK(all_start(all, "rank 3, round 0: the gradient is not finite at coordinate 2"));
    }
}

TEST_CASE("hierarchy: weights as small and as large as they may be") {
    double const smallest = 5e-324;
    double const weights[][4] = {{smallest, 0, smallest, 0},
                                 {smallest, 0, 1, 1},
                                 {1e-310, 3e-310, 1e-310, 1},
                                 {1e308, 1, 1, 1},
                                 {1e-300, 1e-300, 1e-300, 1e-300}};
    for (auto const& w : weights)
        CHECK(all_start(outcomes(4, 2,
                                 [&](auto& nodes, auto& comm) {
                                     reducer_options const vary{.steps_vary = true};
                                     reducer reduce(plain{}, nodes, std::size_t{4}, vary);
                                     reducer flat(plain{}, comm, std::size_t{4}, vary);
                                     std::vector<float> g(4, float(comm.rank() + 1)), h = g;
                                     reduce(g, {.weight = w[comm.rank()]}), flat(h, {.weight = w[comm.rank()]});
                                     CHECK(g[0] == doctest::Approx(h[0]).epsilon(1e-6));
                                 }),
                        "nothing"));
    auto const too_large = outcomes(4, 2, [&](auto& nodes, auto& comm) {
        reducer reduce(plain{}, nodes, std::size_t{4}, {.steps_vary = true});
        std::vector<float> g(4, 1.0f);
        reduce(g, {.weight = comm.rank() < 2 ? 1e308 : 1});
    });
    CHECK(all_start(too_large, "rank 0, round 0: the weights of a node add up to inf"));
}

TEST_CASE("hierarchy: where the collective of one share breaks off, all ranks know then and later") {
    auto const all = outcomes(4, 2, [](auto& nodes, auto& comm) {
        bool lacks = false;
        faulty over{{&nodes.across}, &lacks};
        using own = hierarchy<fibers::member, faulty>;
        reducer<plain<identity, ring>, own> reduce(plain<identity, ring>{}, own{nodes.inside, over}, std::size_t{64});
        std::vector<float> g(64, 1.0f);
        reduce(g);
        lacks = comm.rank() == 0;
        CHECK_THROWS_AS(reduce(g), wire_error);
        lacks = false;
        reduce(g);
    });
    CHECK(all_start(all, "the collective of round 1 broke off"));
}
