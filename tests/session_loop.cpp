// SPDX-License-Identifier: Apache-2.0
// What loops of exchanges in pairs share: damaged bytes and lost ranks are errors on all ranks, later rounds are
// refused until a state is restored, and after the first round nothing is allocated.
#include "laconic/session_loop.hpp"

#include "decentralized/bowl.hpp"
#include "support/allocations.hpp"
#include "support/error_of.hpp"
#include "support/everything.hpp"
#include "support/passed_on.hpp"
#include "support/toys.hpp"

using networks::bowl_of;

// Damages the `when`-th payload that this rank hands to an exchange: cuts its last byte off.
struct damaging : passed_on<threads::member> {
    int when, calls = 0;
    payload exchange(int to, payload mine, int from) {
        if (to != no_rank && calls++ == when) mine.bytes = mine.bytes.first(mine.bytes.size() - 1);
        return inner->exchange(to, mine, from);
    }
};
static_assert(PointToPoint<damaging>);

// The last of some rounds, from 1, in which some rank allocated.
std::size_t last_allocation(auto const& method, int ranks, std::size_t rounds) {
    std::vector<std::size_t> last(static_cast<std::size_t>(ranks));
    threads::run(ranks, [&](threads::member& comm) {
        auto const f = bowl_of(comm.rank());
        toys::vec x(5);
        auto run = method.template start<double>(problem{}, f, comm, std::span<double>(x), 3);
        last[static_cast<std::size_t>(comm.rank())] = last_to_allocate(rounds, [&] { run.round(); });
    });
    return *std::max_element(last.begin(), last.end());
}

TEST_CASE("damaged bytes are the same wire_error on all ranks, and nothing has changed") {
    auto const check = [](auto const& method) {
        threads::run(4, [&](threads::member& engine) {
            damaging comm{{&engine}, engine.rank() == 2 ? 2 : -1};
            auto const f = bowl_of(comm.rank());
            toys::vec x(5);
            auto run = method.template start<double>(problem{}, f, comm, std::span<double>(x), 3);
            run.round();
            auto const before = run.save();
            auto const why = error_of<wire_error>([&] { run.round(); });
            CHECK(why.find("from rank 2") != std::string::npos);
            CHECK(run.save() == before);
            run.round();
            CHECK(run.rounds() == 2);
        });
    };
    check(gadmm{1});
    check(d_gadmm{1, 100});
    check(choco<top_k<>>{.compressor = {2}, .step = .1, .gamma = .5, .over = graph::chain(4)});
}

TEST_CASE("a rank that leaves is a comm_error on the others, and they go on from a saved state only") {
    auto const check = [](auto const& method) {
        CHECK_THROWS_AS(threads::run(4,
                                     [&](threads::member& comm) {
                                         auto const f = bowl_of(comm.rank());
                                         toys::vec x(5);
                                         auto run =
                                             method.template start<double>(problem{}, f, comm, std::span<double>(x), 3);
                                         run.round();
                                         auto const saved = run.save();
                                         if (comm.rank() == 1) throw error("no longer here");
                                         CHECK_THROWS_AS(run.round(), comm_error);
                                         CHECK_THROWS_AS(run.save(), comm_error);
                                         CHECK_THROWS_AS(run.round(), comm_error);
                                         run.restore(saved);
                                         CHECK(run.save() == saved);
                                     }),
                        error);
    };
    check(gadmm{1});
    check(choco<>{.step = .1, .gamma = .5});
    check(pair_gossip{.step = .1});
}

TEST_CASE("an observer sees the round, the model and its value; other lengths are refused") {
    threads::run(2, [](threads::member& comm) {
        auto const f = bowl_of(comm.rank());
        toys::vec x(5), shorter(4);
        auto run = pair_gossip{.step = .5}.start<double>(problem{}, f, comm, std::span<double>(x), 3);
        run.round();
        auto const seen = run.look();
        CHECK(seen.round == 1);
        CHECK(seen.x.data() == x.data());
        CHECK(seen.value() == f.value(x));
        CHECK_THROWS_AS((pair_gossip{.step = .5}.start<double>(problem{}, f, comm, std::span<double>(shorter), 3)),
                        shape_error);
    });
}

// An engine's mailboxes grow with the first messages between two ranks.
TEST_CASE("once every two neighbours have exchanged, nothing is allocated") {
    CHECK(last_allocation(gadmm{1}, 4, 40) <= 6);
    CHECK(last_allocation(q_gadmm{1, 4}, 4, 40) <= 6);
    CHECK(last_allocation(choco<top_k<>>{.compressor = {2}, .step = .1, .gamma = .5}, 4, 40) <= 6);
    CHECK(last_allocation(pair_gossip{.step = .1, .local = 2}, 5, 400) <= 200);
    CHECK(last_allocation(d_gadmm{1, 3}, 5, 400) <= 200);
}
