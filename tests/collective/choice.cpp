// SPDX-License-Identifier: Apache-2.0
// `collective_choice` names the quickest sum by its formulas, and its text lists the others with their seconds.
#include "laconic/collective/choice.hpp"

#include "support/everything.hpp"

using namespace laconic;

namespace {

network const gigabit{4.5e-5, 1e-9, 5e-6};

std::string best(network const& net, double d, double k, int ranks) {
    return detail::collective_choice(net, {d, k, ranks}).name();
}

}  // namespace

TEST_CASE("the quickest is chosen, where the literature recommends it") {
    double const d = 25557032;  // of ResNet-50
    // Of a few terms as few messages as can be, of many terms of few ranks and of many ranks as few terms as can be; of
    // all numbers, the fewest that must be sent, and where parts are short the fewest messages.
    CHECK(best(gigabit, d, 100, 7) == "gathered_sum");
    CHECK(best(gigabit, d, 0.01 * d, 8) == "recursive_doubling");
    CHECK(best(gigabit, d, 0.01 * d, 256) == "split_all_gather(sparse)");
    CHECK(best({5e-5, 1e-9}, d, d, 1024) == "ring");
    CHECK(best(gigabit, d, d, 4096) == "halving_doubling");
    CHECK(best(gigabit, d, d, 1) == "gathered_sum");
    // Where blocks are all there is, they need no coordinates.
    cost_formulas::load blocks{d, 0.01 * d, 64, 32, position_code::smallest, 0.01 * d / 256};
    CHECK(detail::collective_choice(gigabit, blocks).name() == "omni_reduce(256)");
    blocks.blocks = -1;  // 1 % spread evenly leaves hardly a block out
    CHECK(detail::collective_choice(gigabit, blocks).name() == "split_all_gather(sparse)");
    // Where lists are slow to read the long ones go in full, and then the short ones, too.
    CHECK(detail::collective_choice(gigabit, {d, 0.01 * d, 256}, {1e-6, 1e-9}).name() == "split_all_gather(dense)");
    CHECK(detail::collective_choice(gigabit, {d, 0.01 * d, 256}, {1e-5, 1e-9}).name() == "omni_reduce(256)");
}

TEST_CASE("its text lists the choice and all others with their seconds") {
    detail::collective_choice const c({1, 0, 0}, {1000, 10, 4});
    CHECK(to_string(c) ==
          "gathered_sum: 4 ranks, 10 of 1000 numbers each, 2 s; next recursive_doubling 2 s, omni_reduce(256) 2 s, "
          "split_all_gather(sparse) 3 s, split_all_gather(dense) 3 s, halving_doubling 4 s, ring 6 s");
    for (auto const& each : c.options) CHECK(each.seconds >= c.options[c.best].seconds);
    CHECK(c.options.size() == 7);
}
