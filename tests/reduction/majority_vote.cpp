// SPDX-License-Identifier: Apache-2.0
// The estimate of a majority vote is the sign that the larger part of the weight has.
#include "laconic/reduction/majority_vote.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"

std::vector<float> gradient(int rank) {
    std::vector<float> g(50);
    auto const k = key{31}.child(std::uint64_t(rank));
    for (std::size_t i = 0; i < g.size(); ++i) g[i] = float(std::round(9 * (2 * k.uniform(i) - 1)));
    return g;
}

TEST_CASE("majority vote: 1 where at least half of the ranks have no negative number, else -1") {
    for (int const n : {1, 2, 3, 6, 7})
        fibers::run(n, [&](fibers::member& comm) {
            auto x = gradient(comm.rank());
            reducer reduce(majority_vote{}, comm, x);
            reduce(x);
            for (std::size_t i = 0; i < x.size(); ++i) {
                int votes = 0;
                for (int r = 0; r < n; ++r) votes += gradient(r)[i] >= 0 ? 1 : -1;
                CHECK(x[i] == (votes >= 0 ? 1.0f : -1.0f));
            }
        });
}

TEST_CASE("majority vote: ranks vote by their weights, and one of weight 0 or without the layer has no vote") {
    struct votes {
        std::vector<double> weights;
        std::vector<float> gradients;
        float majority;
    };
    std::vector<votes> const all{{{1, 0}, {-1, 1}, -1},
                                 {{0, 1}, {-1, 1}, 1},
                                 {{100, 1, 1}, {-1, 1, 1}, -1},
                                 {{100, 99, 2}, {-1, 1, 1}, 1},
                                 {{100, 99, 2}, {1, -1, -1}, -1},
                                 {{2, 1, 1}, {-1, 1, 1}, 1},  // ties
                                 {{0.3, 0.1, 0.2}, {-1, 1, 1}, 1},
                                 {{0.3, 0.1, 0.2}, {1, -1, -1}, 1},
                                 {{1e-300, 3e-300, 1e-300}, {1, -1, 1}, -1}};
    auto const check = [](auto const& how, votes const& v, fibers::member& comm) {
        reducer<std::decay_t<decltype(how)>, fibers::member> reduce(
            how, comm, std::vector<layer>{{"a", 3}, {"none", 0}, {"b", 70}},
            {.missing_layer = on_missing_layer::zero, .steps_vary = true});
        auto const me = std::size_t(comm.rank());
        std::vector<float> a(3), none, b(70, v.gradients[me]);
        reduce.bind(0, a), reduce.bind(1, none);
        for (int step = 0; step < 2; ++step) {
            std::fill(b.begin(), b.end(), v.weights[me] == 0 ? std::nanf("") : v.gradients[me]);
            reduce.start(2, b, {.weight = v.weights[me]});
            a.assign(3, -1.0f);  // which has the only vote, if it has a weight
            if (comm.rank() == 0) reduce.start(0, a, {.weight = v.weights[me]});
            reduce.finish();
            CHECK(b == std::vector<float>(70, v.majority));
            CHECK(a == std::vector<float>(3, v.weights[0] > 0 ? -1.0f : 1.0f));
        }
    };
    for (auto const& v : all)
        fibers::run(int(v.weights.size()), [&](fibers::member& comm) {
            check(majority_vote{}, v, comm);
            check(majority_vote{vote{}, ring{}}, v, comm);
            check(any_reduction<>(majority_vote{}), v, comm);
        });
}
