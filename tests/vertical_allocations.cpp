// SPDX-License-Identifier: Apache-2.0
// FedBCD allocates nothing after its first round.
#include "laconic/comm/fibers.hpp"

#include "support/allocations.hpp"
#include "support/everything.hpp"
#include "support/parties.hpp"

void allocates_in_the_first_round_only(auto const& method) {
    auto const all = parties::split<squared_loss>(det6::data(), {0, 2, 3, 4}, .1, 0);
    fibers::run(3, [&](fibers::member& comm) {
        auto const& mine = all[std::size_t(comm.rank())];
        std::vector<double> x(mine.dimension());
        auto run = method.start(problem{}, mine, comm, std::span(x), 0);
        run.round(), run.round();
        std::vector<std::byte> const long_message(4096);  // the engine has room for longer messages than the first
        for (int n = 0; n < 4; ++n) {
            comm.all_gather({long_message});
            comm.start_all_gather({long_message});
            comm.finish();
        }
        auto const before = allocations();
        for (int n = 0; n < 20; ++n) run.round();
        comm.all_gather({});
        CHECK(allocations() == before);
    });
}

TEST_CASE("FedBCD allocates nothing after its first two rounds, in which both places for batches are filled") {
    allocates_in_the_first_round_only(fed_bcd<>{.local_steps = 2, .step = .3});
    allocates_in_the_first_round_only(fed_bcd<>{.local_steps = 2, .step = .3, .prox = .1, .batch = 20});
    allocates_in_the_first_round_only(fed_bcd<party_order::parallel, plain<identity, served<identity>>>{.step = .3});
    allocates_in_the_first_round_only(
        fed_bcd<party_order::parallel, ef21_shift<top_k<>>>{.step = .1, .send = {top_k<>{5}}});
    allocates_in_the_first_round_only(fed_bcd<party_order::sequential>{.local_steps = 2, .step = .3});
    allocates_in_the_first_round_only(fed_bcd<party_order::sequential>{.local_steps = 2, .step = .3, .batch = 20});
    allocates_in_the_first_round_only(fed_bcd<party_order::frozen>{.step = .3});
}
