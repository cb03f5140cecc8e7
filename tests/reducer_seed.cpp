// SPDX-License-Identifier: Apache-2.0
// Reducers and runs without a seed draw one, the same on all ranks, which they name; with it they repeat bit for bit.
#include "laconic/comm/fibers.hpp"
#include "support/end_of_a_run.hpp"
#include "support/everything.hpp"
#include "support/reducing.hpp"

std::size_t const d = 40;
shifted const how{rand_k{4} | natural{}};
using reducing::on_ranks_and_nodes, reducing::states, reducing::vectors;

std::vector<float> gradient(int rank, std::uint64_t step) {
    std::vector<float> g(d);
    for (std::size_t i = 0; i < d; ++i) g[i] = float((int(i) * 7 + int(step) * 5 + rank * 3) % 13 - 6);
    return g;
}
// What this rank has after each of so many steps.
vectors steps(auto& reduce, int rank, int count) {
    vectors all;
    for (int k = 0; k < count; ++k) {
        auto g = gradient(rank, reduce.steps());
        reduce(g);
        all.push_back(g);
    }
    return all;
}

TEST_CASE("a run of 5 rounds that is made again and again moves all coordinates") {
    fibers::run(2, [](fibers::member& comm) {
        std::vector<double> x(50);
        std::set<std::uint64_t> seeds;
        for (int made = 0; made < 100; ++made)
            seeds.insert(descend(diana{rand_k{5}}, short_run::bowl{1}, x, comm, {.rounds = 5}).seed);
        CHECK(seeds.size() == 100);
        std::size_t moved = 0;
        for (double const v : x) moved += v != 0;
        CHECK(moved == 50);  // except for 50 (1 - 1 / 10)^1000 < 1e-44 of all runs
    });
}

TEST_CASE("the seed that a reducer names is that of all ranks, and repeats its steps bit for bit") {
    std::vector<std::uint64_t> seeds;
    on_ranks_and_nodes([&](auto& over, auto& comm) {
        int const rank = comm.rank();
        reducer reduce(how, over, d);
        seeds.push_back(reduce.seed());
        auto const first = steps(reduce, rank, 10);
        reducer again(how, over, d, {.seed = reduce.seed()});
        CHECK(again.seed() == reduce.seed());
        CHECK(steps(again, rank, 10) == first);
        reducer other(how, over, d);
        CHECK(other.seed() != reduce.seed());
        CHECK(steps(other, rank, 10) != first);
    });
    CHECK(std::set(seeds.begin(), seeds.begin() + 4).size() == 1);
    CHECK(std::set(seeds.begin() + 4, seeds.end()).size() == 1);
    CHECK(seeds[0] != seeds[4]);
}

TEST_CASE("a saved state has its seed: a reducer that drew another goes on with it, bit for bit, or refuses it") {
    on_ranks_and_nodes([](auto& over, auto& comm) {
        int const rank = comm.rank();
        reducer reduce(how, over, d);
        steps(reduce, rank, 5);
        auto const state = reduce.save();
        auto const rest = steps(reduce, rank, 5);
        for (auto const& seed : {std::optional<std::uint64_t>(), std::optional(reduce.seed())}) {
            reducer later(how, over, d, {.seed = seed});
            steps(later, rank, 1);
            later.restore(state);
            CHECK(later.seed() == reduce.seed());
            CHECK(steps(later, rank, 5) == rest);
        }
        reducer other(how, over, d, {.seed = reduce.seed() ^ 1});
        CHECK_THROWS_WITH_AS(other.restore(state), doctest::Contains("the seed: "), shape_error);
        CHECK(other.seed() == (reduce.seed() ^ 1));
    });
}

TEST_CASE("the states of all ranks, too, have their seed, for as many ranks and for others") {
    states all(4);
    vectors rest(4);
    std::uint64_t seed = 0;
    on_ranks_and_nodes([&](auto& over, auto& comm) {
        int const rank = comm.rank();
        reducer reduce(how, over, d);
        steps(reduce, rank, 3);
        all[std::size_t(rank)] = reduce.save(), seed = reduce.seed();
        rest[std::size_t(rank)] = steps(reduce, rank, 1)[0];
        reducer later(how, over, d);
        later.restore(std::span(all));
        CHECK(later.seed() == seed);
        CHECK(steps(later, rank, 1)[0] == rest[std::size_t(rank)]);
    });
    fibers::run(2, [&](fibers::member& comm) {  // one node
        auto across = comm.split(comm.rank(), 0);
        hierarchy nodes{comm, across};
        reducer fewer(how, nodes, d);
        fewer.restore(std::span(all));
        CHECK(fewer.seed() == seed);
        CHECK(fewer.steps() == 3);
        steps(fewer, comm.rank(), 1);
    });
}

TEST_CASE("where one rank alone took another seed with a state, the next step fails on all") {
    states of_another(2);
    fibers::run(2, [&](fibers::member& comm) {
        reducer reduce(how, comm, d);
        of_another[std::size_t(comm.rank())] = reduce.save();
    });
    fibers::run(2, [&](fibers::member& comm) {
        reducer reduce(how, comm, d);
        if (comm.rank() == 1) reduce.restore(of_another[1]);
        auto g = gradient(comm.rank(), 0);
        CHECK_THROWS_WITH_AS(reduce(g), doctest::Contains("rank 1 has \"the seed: "), agreement_error);
    });
}

TEST_CASE("a state of another rank of the node is refused, as it draws otherwise") {
    states all(2);
    fibers::run(2, [&](fibers::member& comm) {
        auto across = comm.split(comm.rank(), 0);
        hierarchy nodes{comm, across};
        reducer reduce(how, nodes, d);
        all[std::size_t(comm.rank())] = reduce.save();
        comm.all_gather({});
        CHECK_THROWS_WITH_AS(reduce.restore(all[std::size_t(1 - comm.rank())]), doctest::Contains("the share: "),
                             shape_error);
    });
}

TEST_CASE("some ranks with a seed and others without: all throw, over nodes, too") {
    on_ranks_and_nodes([](auto& over, auto& comm) {
        int const rank = comm.rank();
        for (int const one : {0, 3}) {
            reducer_options options;
            if (rank == one) options.seed = 5;
            CHECK_THROWS_WITH_AS(reducer(how, over, d, options), doctest::Contains("the seed: not given"),
                                 agreement_error);
            options.seed = rank == one ? 5 : 6;
            CHECK_THROWS_WITH_AS(reducer(how, over, d, options), doctest::Contains("the seed: 5"), agreement_error);
        }
    });
}

TEST_CASE("ranks that come together with rebind go on with the seed of rank 0") {
    fibers::run(2, [](fibers::member& comm) {
        auto alone = comm.split(comm.rank(), 0);
        reducer reduce(how, alone, d);
        std::uint64_t const own = reduce.seed();
        reduce.rebind(comm);
        CHECK((reduce.seed() == own) == (comm.rank() == 0));
        auto const here = steps(reduce, comm.rank(), 1)[0];
        reducer same(how, comm, d, {.seed = reduce.seed()});
        CHECK(steps(same, comm.rank(), 1)[0] == here);
    });
    fibers::run(4, [](fibers::member& comm) {  // two nodes of 2 ranks that were apart
        auto inside = comm.split(comm.rank() / 2, 0), across = comm.split(comm.rank() % 2, 0);
        auto alone = comm.split(comm.rank(), 0);
        hierarchy apart{inside, alone}, together{inside, across};
        reducer reduce(how, apart, d);
        std::uint64_t const own = reduce.seed();
        reduce.rebind(together);
        CHECK((reduce.seed() == own) == (comm.rank() < 2));
        reducer same(how, together, d, {.seed = reduce.seed()});
        CHECK(steps(same, comm.rank(), 2) == steps(reduce, comm.rank(), 2));
    });
}

TEST_CASE("a run names its seed on all ranks: with it, and from its saved state, it is the same bit for bit") {
    fibers::run(2, [](fibers::member& comm) {
        std::vector<double> x(50), y(50), z(50);
        std::vector<std::byte> saved;
        auto const first =
            descend(diana{rand_k{5}}, short_run::bowl{1}, x, comm, {.rounds = 10}, [&](auto const& at, auto& loop) {
                if (at.round == 4) saved = loop.save();
            });
        auto const again = descend(diana{rand_k{5}}, short_run::bowl{1}, y, comm, {.rounds = 10, .seed = first.seed});
        CHECK(again.seed == first.seed);
        CHECK(x == y);
        auto const rest = descend(diana{rand_k{5}}, short_run::bowl{1}, z, comm, {.rounds = 10, .resume_from = saved});
        CHECK(rest.seed == first.seed);
        CHECK(x == z);
        CHECK_THROWS_WITH_AS(descend(diana{rand_k{5}}, short_run::bowl{1}, z, comm,
                                     {.rounds = 10, .seed = first.seed ^ 1, .resume_from = saved}),
                             doctest::Contains("saved: the seed: "), shape_error);
        run_settings one;
        if (comm.rank() == 1) one.seed = 4;
        CHECK_THROWS_WITH_AS(descend(diana{rand_k{5}}, short_run::bowl{1}, z, comm, one),
                             "ranks disagree: rank 0 has \"the seed: not given\", rank 1 has \"the seed: 4\"",
                             agreement_error);
        run_settings alone;
        if (comm.rank() == 1) alone.resume_from = saved;
        CHECK_THROWS_WITH_AS(descend(diana{rand_k{5}}, short_run::bowl{1}, z, comm, alone),
                             doctest::Contains("the seed of the saved state: "), agreement_error);
    });
}
