// SPDX-License-Identifier: Apache-2.0
// A state is restored, as far as the caller accepts, where options, parameters, layers or ranks have changed; and a
// residual is read and set.
#include "laconic/resume.hpp"

#include "laconic/any/reduction.hpp"
#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"

using vec = std::vector<double>;
using texts = std::vector<std::string>;
using any = any_reduction<double>;
using reducing = reducer<any, fibers::member, double>;
using state = std::vector<std::byte>;

vec copied(std::span<double const> x) { return {x.begin(), x.end()}; }
vec brought(int rank, int step, std::size_t d) {
    vec g(d);
    for (std::size_t i = 0; i < d; ++i)
        g[i] = key{3}.child(std::uint64_t(rank)).child(std::uint64_t(step)).uniform(i) - 0.4;
    return g;
}
// Takes these steps, and returns the first layer's estimate of the last.
vec after_steps(reducing& reduce, int rank, int from, int to) {
    std::vector<vec> g(reduce.layers().size());
    for (int k = from; k < to; ++k) {
        for (std::size_t l = 0; l < g.size(); ++l)
            reduce.start(l, g[l] = brought(rank, k + int(l), reduce.layers()[l].size()));
        reduce.finish();
    }
    return g[0];
}

constexpr int ranks = 3;
std::vector<layer> const two = {{"a", 12}, {"b", 7}};
any const base = error_feedback{top_k{2}};

// The states of all ranks after 5 steps.
std::vector<state> saved_of(any const& how, std::vector<layer> const& layers = two,
                            reducer_options const& options = {.seed = 1}) {
    std::vector<state> all(ranks);
    fibers::run(ranks, [&](fibers::member& comm) {
        reducing reduce(how, comm, layers, options);
        after_steps(reduce, comm.rank(), 0, 5);
        all[std::size_t(comm.rank())] = reduce.save();
    });
    return all;
}
// Calls body(reduce, rank, its state) on all ranks of another reducer, which has taken two steps, and which refuses the
// states by default, without a change, unless all is as it was saved.
void resumed(std::vector<state> const& saved, any const& how, std::vector<layer> const& layers,
             reducer_options const& options, auto body, bool as_saved = false) {
    fibers::run(ranks, [&](fibers::member& comm) {
        reducing reduce(how, comm, layers, options);
        after_steps(reduce, comm.rank(), 20, 22);
        auto const& own = saved[std::size_t(comm.rank())];
        auto const before = reduce.save();
        if (!as_saved) {
            CHECK_THROWS_AS(reduce.restore(own), shape_error);
            CHECK(reduce.save() == before);
        }
        body(reduce, comm.rank(), own);
    });
}
auto const& memory_of(reducing const& reduce, std::size_t l) { return reduce.layers()[l].feedback(); }

TEST_CASE("resume: options on which no residual depends may differ, and it goes on bit for bit") {
    auto const saved = saved_of(base);
    reducer_options const others{.seed = 1,
                                 .non_finite = on_non_finite::propagate,
                                 .missing_layer = on_missing_layer::zero,
                                 .dense_rounds = 3,
                                 .share_below = 0,
                                 .steps_vary = true,
                                 .probe_every = 7,
                                 .verify_every = 1,
                                 .positions = position_code::fastest};
    std::vector<vec> expected(ranks);
    resumed(
        saved, base, two, {.seed = 1},
        [&](auto& reduce, int rank, auto const& own) {
            reduce.restore(own);
            expected[std::size_t(rank)] = after_steps(reduce, rank, 5, 8);
        },
        true);
    resumed(saved, base, two, others, [&](auto& reduce, int rank, auto const& own) {
        CHECK(resume(reduce, own) == texts{});
        CHECK(reduce.steps() == 5);
        CHECK(after_steps(reduce, rank, 5, 8) == expected[std::size_t(rank)]);
    });
}

TEST_CASE(
    "resume: with another k, decay, compressor or collective the residual is kept, and a momentum begins from 0") {
    auto const saved = saved_of(base);
    std::vector<vec> residuals(ranks);
    resumed(
        saved, base, two, {.seed = 1},
        [&](auto& reduce, int rank, auto const& own) {
            reduce.restore(own);
            residuals[std::size_t(rank)] = copied(reduce.residual(0));
        },
        true);
    for (any const& how : {any(error_feedback{top_k{5}}), any(error_feedback{top_k{2}, 0.5}),
                           any(error_feedback{scaled_sign{}}), any(error_feedback{top_k{2}, 1, ring{}})})
        resumed(saved, how, two, {.seed = 1}, [&](auto& reduce, int rank, auto const& own) {
            CHECK(resume(reduce, own) == texts{});
            CHECK(copied(reduce.residual(0)) == residuals[std::size_t(rank)]);
            after_steps(reduce, rank, 5, 7);
        });
    any const with_momentum = error_feedback{top_k{2}, 1, gather_all{}, 0.9};
    resumed(saved, with_momentum, two, {.seed = 1}, [&](auto& reduce, int rank, auto const& own) {
        CHECK(resume(reduce, own) == texts{"layer a: the momentum is not restored, as only one has it",
                                           "layer b: the momentum is not restored, as only one has it"});
        CHECK(copied(reduce.residual(0)) == residuals[std::size_t(rank)]);
        CHECK(copied(memory_of(reduce, 0).momentum()) == vec(12));
    });
    resumed(saved_of(with_momentum), any(error_feedback{top_k{3}, 1, gather_all{}, 0.5}), two, {.seed = 1},
            [&](auto& reduce, int, auto const& own) {
                CHECK(resume(reduce, own) == texts{});
                CHECK(copied(memory_of(reduce, 0).momentum()) != vec(12));
            });
}

TEST_CASE("resume: layers that are new, gone, of another length or no longer in full are named") {
    auto const saved = saved_of(base);
    std::vector<layer> const others = {{"c", 4}, {"b", 9}, {"a", 12}};
    resumed(saved, base, others, {.seed = 1, .probe_every = 7}, [&](auto& reduce, int rank, auto const& own) {
        CHECK(resume(reduce, own) ==
              texts{"layer c is not restored: it is new", "layer b is not restored: it had another length"});
        CHECK(copied(reduce.residual(0)) == vec(4));
        CHECK(copied(reduce.residual(1)) == vec(9));
        CHECK(copied(reduce.residual(2)) != vec(12));
        after_steps(reduce, rank, 5, 7);
    });
    resumed(saved, base, {{"a", 12}}, {.seed = 1, .probe_every = 7}, [&](auto& reduce, int, auto const& own) {
        CHECK(resume(reduce, own) == texts{"layer b is not restored: it is gone"});
    });
    reducer_options const small_in_full{.seed = 1, .dense_below = 10, .probe_every = 7};
    resumed(saved, base, two, small_in_full, [&](auto& reduce, int, auto const& own) {
        CHECK(resume(reduce, own) == texts{"layer b is not restored: it is in full"});
    });
    resumed(saved_of(base, two, small_in_full), base, two, {.seed = 1, .probe_every = 7},
            [&](auto& reduce, int, auto const& own) {
                CHECK(resume(reduce, own) == texts{"layer b is not restored: it was in full"});
                CHECK(copied(reduce.residual(1)) == vec(7));
            });
}

TEST_CASE("resume: a momentum of another length is not restored, also where it is all that a layer remembers") {
    any const how = error_feedback{top_k{2}, 1, gather_all{}, .9};
    reducer_options const last_in_full{.seed = 1, .in_full = {"b"}};
    resumed(saved_of(how, two, last_in_full), how, {{"a", 12}, {"b", 9}}, last_in_full,
            [&](auto& reduce, int rank, auto const& own) {
                CHECK(resume(reduce, own) == texts{"layer b is not restored: it had another length"});
                after_steps(reduce, rank, 5, 7);
            });
}

TEST_CASE("resume: a shift is kept with another alpha, with its mean") {
    auto const saved = saved_of(shifted{rand_k{4}});
    std::vector<vec> shifts(ranks), means(ranks);
    resumed(
        saved, shifted{rand_k{4}}, two, {.seed = 1},
        [&](auto& reduce, int rank, auto const& own) {
            reduce.restore(own);
            shifts[std::size_t(rank)] = copied(memory_of(reduce, 0).shift());
            means[std::size_t(rank)] = copied(memory_of(reduce, 0).mean_shift());
        },
        true);
    for (any const& how : {any(shifted{rand_k{6}}), any(ef21_shift{top_k{2}})})
        resumed(saved, how, two, {.seed = 1, .verify_every = 1}, [&](auto& reduce, int rank, auto const& own) {
            CHECK(resume(reduce, own) == texts{});
            CHECK(copied(memory_of(reduce, 0).shift()) == shifts[std::size_t(rank)]);
            CHECK(copied(memory_of(reduce, 0).mean_shift()) == means[std::size_t(rank)]);
            after_steps(reduce, rank, 5, 7);
        });
}

TEST_CASE(
    "resume: another kind of reduction, rank or number, a seed that is given and damage are refused all the same") {
    auto const saved = saved_of(base);
    for (any const& how : {any(ef21_shift{top_k{2}}), any(plain{rand_k{2}})})
        resumed(saved, how, two, {.seed = 1}, [&](auto& reduce, int, auto const& own) {
            auto const before = reduce.save();
            CHECK_THROWS_WITH_AS(static_cast<void>(resume(reduce, own)),
                                 doctest::Contains("layer a remembers something else"), shape_error);
            CHECK(reduce.save() == before);
        });
    for (bool const common : {false, true})
        resumed(saved_of(error_feedback{top_k{2}, 1, gather_all{}, .5, false, !common}),
                error_feedback{top_k{2}, 1, gather_all{}, .5, false, common}, two, {.seed = 1},
                [&](auto& reduce, int, auto const& own) {
                    auto const before = reduce.save();
                    CHECK_THROWS_WITH_AS(static_cast<void>(resume(reduce, own)),
                                         doctest::Contains("layer a: its momentum is"), shape_error);
                    CHECK(reduce.save() == before);
                });
    resumed(saved, error_feedback{top_k{3}}, two, {.seed = 1}, [&](auto& reduce, int rank, auto const& own) {
        auto const before = reduce.save();
        CHECK_THROWS_WITH_AS(static_cast<void>(resume(reduce, saved[std::size_t((rank + 1) % ranks)])),
                             doctest::Contains("rank "), shape_error);
        auto damaged = own;
        damaged[damaged.size() / 2] ^= std::byte{1};
        CHECK_THROWS_AS(static_cast<void>(resume(reduce, damaged)), wire_error);
        CHECK(reduce.save() == before);
    });
    fibers::run(ranks, [&](fibers::member& comm) {
        reducing other_seed(base, comm, two, {.seed = 2});
        CHECK_THROWS_AS(static_cast<void>(resume(other_seed, saved[std::size_t(comm.rank())])), shape_error);
        reducer<plain<>, fibers::member, float> floats(plain{}, comm, two, {.seed = 1});
        CHECK_THROWS_WITH_AS(static_cast<void>(resume(floats, saved[std::size_t(comm.rank())])),
                             doctest::Contains("the bytes of a number"), shape_error);
    });
}

TEST_CASE("resume: on another number of ranks, and where some ranks' states are lost, all get the mean") {
    auto const saved = saved_of(base);
    std::vector<vec> residuals(ranks);
    resumed(
        saved, base, two, {.seed = 1},
        [&](auto& reduce, int rank, auto const& own) {
            reduce.restore(own);
            residuals[std::size_t(rank)] = copied(reduce.residual(0));
        },
        true);
    auto with_loss = saved;
    with_loss[1].clear();
    for (int const n : {3, 2})
        fibers::run(n, [&](fibers::member& comm) {
            auto const check = [&](reducing& reduce, bool lost) {
                for (std::size_t i = 0; i < 12; ++i)
                    CHECK(reduce.residual(0)[i] ==
                          doctest::Approx((residuals[0][i] + (lost ? 0 : residuals[1][i]) + residuals[2][i]) / 3));
                after_steps(reduce, comm.rank(), 5, 6);
            };
            reducing same(base, comm, two, {.seed = 1});
            CHECK_THROWS_AS(same.restore(with_loss), wire_error);
            CHECK(resume(same, with_loss) == texts{"rank 1 has no state, which counts as zeros"});
            check(same, true);
            reducing other(any(error_feedback{top_k{3}}), comm, {{"a", 12}, {"c", 7}}, {.seed = 1});
            CHECK(resume(other, with_loss) == texts{"rank 1 has no state, which counts as zeros",
                                                    "layer c is not restored: it is new",
                                                    "layer b is not restored: it is gone"});
            check(other, true);
            CHECK_THROWS_AS(static_cast<void>(resume(other, std::vector<state>(3))), argument_error);
            if (n == 3) return;
            CHECK(resume(other, saved).size() == 2);
            check(other, false);
        });
}

TEST_CASE("resume: over nodes a state is that of a share") {
    std::vector<state> saved(4);
    std::vector<vec> residuals(4);
    auto const over_nodes = [](std::size_t k, auto body) {
        fibers::run(4, [&](fibers::member& comm) {
            auto inside = comm.split(comm.rank() / 2, 0), across = comm.split(comm.rank() % 2, 0);
            hierarchy nodes{inside, across};
            reducer<error_feedback<top_k<>>, decltype(nodes), double> reduce(error_feedback{top_k{k}}, nodes, 8,
                                                                             {.seed = 1});
            auto g = brought(comm.rank(), int(k), 8);
            reduce(g);
            body(reduce, std::size_t(comm.rank()));
        });
    };
    over_nodes(1, [&](auto& reduce, std::size_t rank) {
        saved[rank] = reduce.save(), residuals[rank] = copied(reduce.residual(0));
        CHECK(residuals[rank].size() == 4);
        CHECK_THROWS_AS(reduce.set_residual(0, vec(8)), shape_error);
    });
    over_nodes(2, [&](auto& reduce, std::size_t rank) {
        CHECK_THROWS_AS(reduce.restore(saved), shape_error);
        CHECK(copied(reduce.residual(0)) != residuals[rank]);
        CHECK(resume(reduce, saved) == texts{});
        CHECK(copied(reduce.residual(0)) == residuals[rank]);
        reduce.set_residual(0, vec(4));
        CHECK(resume(reduce, saved[rank]) == texts{});
        CHECK(copied(reduce.residual(0)) == residuals[rank]);
    });
}

TEST_CASE("a residual is read and set between steps, and is what the next step sends") {
    fibers::run(2, [](fibers::member& comm) {
        reducing reduce(base, comm, two, {.seed = 1});
        vec a(12), b(7), e(12), bad(12);
        bad[3] = std::numeric_limits<double>::infinity();
        e[3] = 8 * (comm.rank() + 1), e[5] = 4, e[7] = 1;
        reduce.set_residual(0, e);
        CHECK(copied(reduce.residual(0)) == e);
        reduce.start(0, a);
        CHECK_THROWS_AS(reduce.set_residual(0, e), argument_error);
        reduce.start(1, b), reduce.finish();
        CHECK(a[3] == 12);
        CHECK(a[5] == 4);
        CHECK(a[7] == 0);
        CHECK(copied(reduce.residual(0))[7] == 1);
        CHECK_THROWS_WITH_AS(reduce.set_residual(0, bad), "layer a: the residual is not finite at coordinate 3",
                             argument_error);
        CHECK_THROWS_WITH_AS(reduce.set_residual(1, e), "layer b: a residual of 12 numbers, where it has 7",
                             shape_error);
        CHECK_THROWS_AS(reduce.set_residual(2, e), argument_error);
        CHECK_THROWS_AS(reduce.residual(2), argument_error);
        reducing none(any(plain{rand_k{2}}), comm, two, {.seed = 1});
        CHECK_THROWS_WITH_AS(none.residual(0), "layer a has no residual: 12 numbers, plain(rand_k(2))", argument_error);
        CHECK_THROWS_AS(none.set_residual(0, e), argument_error);
    });
}
