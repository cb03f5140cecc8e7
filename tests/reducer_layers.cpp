// SPDX-License-Identifier: Apache-2.0
// `reducer` reduces each of many layers as if it were alone, in whatever order all ranks start them.
#include "laconic/comm/fibers.hpp"
#include "support/allocations.hpp"
#include "support/everything.hpp"
#include "support/reducing.hpp"

using reducing::error_of_all, reducing::vectors;

std::vector<layer> const three{{"conv.weight", 40}, {"conv.bias", 6}, {"head.weight", 25}};
std::vector<std::size_t> const backwards{2, 1, 0};

vectors gradients(int rank, int step) { return reducing::gradients(rank, step, {40, 6, 25}); }

// The vectors of each rank after each step, rank by rank.
template <class How>
using step_of = std::function<void(reducer<How, fibers::member>&, int rank, int k, vectors& g)>;

void whole_step(auto& reduce, vectors& g, std::vector<std::size_t> const& order = backwards) {
    for (auto const l : order) reduce.start(l, g[l]);
    reduce.finish();
}

template <class How>
std::vector<vectors> run(
    int n, How const& how, int steps, reducer_options const& options = {.seed = 0},
    step_of<How> step = [](auto& reduce, int, int, vectors& g) { whole_step(reduce, g); }) {
    std::vector<vectors> all(std::size_t(n * steps));
    fibers::run(n, [&](fibers::member& comm) {
        reducer reduce(how, comm, three, options);
        for (int k = 0; k < steps; ++k) {
            auto g = gradients(comm.rank(), k);
            step(reduce, comm.rank(), k, g);
            all[std::size_t(comm.rank() * steps + k)] = g;
        }
    });
    return all;
}

TEST_CASE("layers: each is reduced as if it were alone, whatever the order in which all ranks start them") {
    int const n = 3, steps = 20;
    auto const together = run(n, error_feedback{top_k{4}}, steps);
    auto const forwards =
        run<error_feedback<top_k<>>>(n, error_feedback{top_k{4}}, steps, {}, [](auto& reduce, int, int, vectors& g) {
            whole_step(reduce, g, {0, 1, 2});
        });
    CHECK(together == forwards);
    fibers::run(n, [&](fibers::member& comm) {
        for (std::size_t l = 0; l < three.size(); ++l) {
            reducer reduce(error_feedback{top_k{4}}, comm, three[l].size);
            for (int k = 0; k < steps; ++k) {
                auto g = gradients(comm.rank(), k)[l];
                reduce(g);
                CHECK(g == together[std::size_t(comm.rank() * steps + k)][l]);
            }
        }
    });
}

TEST_CASE("layers draw different random numbers, and each the same in whatever place it is listed") {
    fibers::run(2, [](fibers::member& comm) {
        std::vector<layer> const twins{{"a", 30}, {"b", 30}}, swapped{{"b", 30}, {"a", 30}};
        reducer one(plain{rand_k{5}}, comm, twins, {.seed = 0}), other(plain{rand_k{5}}, comm, swapped, {.seed = 0});
        std::vector<float> const g(30, 1.0f);
        auto a = g, b = g, other_a = g, other_b = g;
        one.start(0, a), one.start(1, b), one.finish();
        other.start(0, other_b), other.start(1, other_a), other.finish();
        CHECK(a != b);
        CHECK(a == other_a);
        CHECK(b == other_b);
    });
}

TEST_CASE("small or sensitive layers travel in full and without a memory: dense_below, and patterns of names") {
    auto const exact = [](vectors const& g, int n, int k, std::size_t l) {
        std::vector<float> sum(three[l].size);
        for (int r = 0; r < n; ++r)
            for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += 0.5f * gradients(r, k)[l][i];
        return sum == g[l];
    };
    int const n = 2, steps = 5;
    for (reducer_options const& options : {reducer_options{.dense_below = 7}, reducer_options{.in_full = {"*.bias"}},
                                           reducer_options{.in_full = {"*bias", "conv.b*"}}}) {
        auto const all = run(n, error_feedback{top_k{2}}, steps, options);
        auto const without = run(n, error_feedback{top_k{2}}, steps);
        for (int k = 0; k < steps; ++k) {
            CHECK(exact(all[std::size_t(k)], n, k, 1));
            CHECK(all[std::size_t(k)][0] == without[std::size_t(k)][0]);
            CHECK(all[std::size_t(k)][2] == without[std::size_t(k)][2]);
            CHECK_FALSE(exact(without[std::size_t(k)], n, k, 1));
        }
    }
    fibers::run(n, [](fibers::member& comm) {
        layer all{"", 9};
        all.in_full = true;
        std::vector<float> g(9, 1);
        reducer reduce(error_feedback{top_k{2}}, comm, std::vector{all});
        reduce(g);
        CHECK(g == std::vector<float>(9, 1));
    });
}

// What the estimates are where layers are absent, is in reducer_absent.cpp.
TEST_CASE("layers that one rank starts twice or not at all are named on all ranks") {
    using list = std::vector<std::size_t>;
    std::string const lacks = "layer conv.bias was not started";
    struct row {
        int steps;  // of all ranks, before
        on_missing_layer missing_layer;
        list usual, odd;  // the layers that all ranks start, and rank 1
        std::string text;
    };
    auto const raise = on_missing_layer::raise;
    for (row const& is : {row{1, raise, backwards, {2, 2, 1, 0}, "rank 1, round 1: layer head.weight is started twice"},
                          row{1, raise, backwards, {2, 0}, "rank 1, round 1: " + lacks},
                          row{1, raise, backwards, {0, 2}, "rank 1, round 1: " + lacks},
                          row{0, raise, backwards, {0, 2}, "rank 1, round 0: " + lacks},
                          row{0, raise, backwards, {0, 0, 2, 1}, "rank 1, round 0: layer conv.weight is started twice"},
                          row{0, raise, {2, 0}, {2, 0}, "rank 0, round 0: " + lacks},
                          row{1, on_missing_layer::skip, backwards, {0, 2}, "rank 1, round 1: " + lacks}})
        CHECK(error_of_all(3, [&](fibers::member& comm) {
                  reducer reduce(error_feedback{top_k{4}}, comm, three, {.missing_layer = is.missing_layer});
                  auto g = gradients(comm.rank(), 0);
                  for (int k = 0; k < is.steps; ++k) whole_step(reduce, g);
                  whole_step(reduce, g, comm.rank() == 1 ? is.odd : is.usual);
              }) == is.text);
}

// What a rank has after 12 steps of seven layers, which it starts backwards or, `shuffled`, in an order of its own in
// each step: all vectors of all steps, and its state.
struct outcome {
    std::vector<vectors> g;
    std::vector<std::byte> state;
    bool operator==(outcome const&) const = default;
};
outcome start_in_some_order(auto const& how, auto& comm, int rank, reducer_options options, bool shuffled) {
    std::vector<std::size_t> const seven{40, 6, 25, 4, 9, 5, 30};
    options.seed = 3;
    reducer reduce(how, comm, seven, options);
    outcome all;
    vectors g(seven.size());
    for (std::size_t l = 0; l < g.size(); ++l) {
        g[l].resize(seven[l]);
        if (options.missing_layer == on_missing_layer::zero) reduce.bind(l, g[l]);
    }
    for (int k = 0; k < 12; ++k) {
        auto const drawn = key{11}.child(std::uint64_t(k)).child(std::uint64_t(rank));
        std::vector<std::size_t> order{6, 5, 4, 3, 2, 1, 0};
        for (std::size_t i = 6; shuffled && i > 0; --i) std::swap(order[i], order[drawn.word(i) % (i + 1)]);
        bool const zero = options.missing_layer == on_missing_layer::zero,
                   skip = options.missing_layer == on_missing_layer::skip;
        auto const fresh = reducing::gradients(rank, k, seven);
        for (auto const l : order) {
            std::ranges::copy(fresh[l], g[l].begin());
            bool const lacks = zero ? drawn.word(20 + l) % 3 == 0 : skip && (l + std::size_t(k)) % 3 == 0;
            if (!lacks) reduce.start(l, g[l]);
        }
        reduce.finish();
        all.g.push_back(g);
        if (k == 6) reduce.restore(reduce.save());  // after which all learn an order anew
    }
    all.state = reduce.save();
    return all;
}

TEST_CASE("ranks that each start their layers in another order in each step have what ordered ranks have, to the bit") {
    auto const check = [&](auto const& how, bool skips = true) {
        CAPTURE(to_string(how));
        for (auto const missing : {on_missing_layer::raise, on_missing_layer::zero, on_missing_layer::skip})
            for (std::size_t const share_below : {0u, 10u, 4096u}) {
                if (missing == on_missing_layer::skip && !skips) continue;
                CAPTURE(int(missing));
                CAPTURE(share_below);
                reducer_options const options{.missing_layer = missing, .share_below = share_below};
                std::vector<outcome> alike(4), shuffled(4);
                threads::run(4, [&](threads::member& comm) {
                    auto const r = std::size_t(comm.rank());
                    alike[r] = start_in_some_order(how, comm, comm.rank(), options, false);
                    shuffled[r] = start_in_some_order(how, comm, comm.rank(), options, true);
                });
                CHECK(shuffled == alike);
                reducing::on_nodes<threads>(2, 2, [&](auto& nodes, threads::member& comm) {
                    auto const r = std::size_t(comm.rank());
                    alike[r] = start_in_some_order(how, nodes, comm.rank(), options, false);
                    shuffled[r] = start_in_some_order(how, nodes, comm.rank(), options, true);
                });
                CHECK(shuffled == alike);
            }
    };
    check(error_feedback{top_k{2} | natural{}});
    check(ef21_shift{top_k{2}});
    check(error_feedback{top_k{2}, 1, ring{}}, false);
    check(error_feedback{top_k{2}, 1, in_background{ring{}}}, false);
}

TEST_CASE("layers that are not there, or have one name, are refused at once") {
    fibers::run(1, [](fibers::member& comm) {
        reducer reduce(plain{}, comm, three);
        std::vector<float> x(6);
        CHECK_THROWS_WITH_AS(reduce.start(3, x), "there is no layer 3: this reducer's layers are 0 .. 2",
                             argument_error);
        CHECK_THROWS_WITH_AS(reduce(x), doctest::Contains("has 3 layers: call start(layer, x)"), argument_error);
        CHECK_THROWS_AS(reducer(plain{}, comm, std::vector<layer>{}), argument_error);
        CHECK_THROWS_AS(reducer(plain{}, comm, std::vector<layer>{{"a", 1}, {"a", 1}}), argument_error);
    });
}

TEST_CASE(
    "a step of layers is a transaction: whatever fails in it, and wherever, the next 50 are as if it had not been") {
    int const n = 3, steps = 52;
    float const inf = std::numeric_limits<float>::infinity();
    auto const check = [&](auto const& how) {
        using H = std::remove_cvref_t<decltype(how)>;
        CAPTURE(to_string(how));
        auto const untroubled = run(n, how, steps);
        for (int const when : {0, 1})  // in the first step, whose messages wait for its end, and later
            for (int const kind : {0, 1, 2, 3, 4, 5, 6, 7}) {
                CAPTURE(when);
                CAPTURE(kind);
                int errors = 0;
                bool const propagates = kind >= 6;  // as 0 and 1, and every number becomes NaN
                reducer_options const options{
                    .seed = 0, .non_finite = propagates ? on_non_finite::propagate : on_non_finite::raise};
                auto const troubled = run<H>(n, how, steps, options, [&](auto& reduce, int rank, int k, vectors& g) {
                    if (k == when) {
                        auto bad = gradients(rank, 1000);
                        auto const before = bad;
                        bool const mine = rank == 1;
                        if (kind % 6 == 0 && mine) bad[0].back() = inf;   // in the last layer that is started
                        if (kind % 6 == 1 && mine) bad[2].front() = inf;  // in the first
                        if (kind == 2 && mine) bad[1].push_back(1);
                        if (kind == 3 && mine) bad[0].pop_back(), bad[2][3] = inf;
                        auto const tried = bad;
                        try {
                            if (kind == 4) {
                                reduce.start(2, bad[2]);
                                if (!mine || when == 0) reduce.start(1, bad[1]);
                                mine || when == 0 ? reduce.drop() : (reduce.start(0, bad[0]), reduce.finish());
                            } else if (kind == 5) {
                                for (auto const l : backwards) reduce.start(l, bad[l]);
                                reduce.drop();
                            } else {
                                whole_step(reduce, bad);
                            }
                        } catch (error const&) {
                            ++errors;
                        }
                        if (!propagates) CHECK(bad == tried);
                        for (std::size_t l = 0; propagates && l < 3; ++l)
                            CHECK(std::all_of(bad[l].begin(), bad[l].end(), [](float v) { return v != v; }));
                    }
                    whole_step(reduce, g);
                });
                CHECK(errors == (kind >= 5 || (kind == 4 && when == 0) ? 0 : kind == 4 ? n - 1 : n));
                CHECK(troubled == untroubled);
            }
    };
    check(error_feedback{top_k{4} | natural{}});
    check(shifted{rand_k{4}});
    check(ef21_shift{top_k{4}});
    check(error_feedback{top_k{4}, 1, ring{}});
}

TEST_CASE("a rank that starts afresh and one that goes on agree on the order of layers again after both restore") {
    int const n = 2;
    auto const right = run(n, error_feedback{top_k{4}}, 6);
    fibers::run(n, [&](fibers::member& inner) {
        error_feedback const how{top_k{4}};
        metered comm(inner);  // no reducer has a duplicate of its own of this
        reducer first(how, comm, three), fresh(how, comm, three);
        for (int k = 0; k < 3; ++k) {
            auto g = gradients(comm.rank(), k);
            whole_step(first, g);
        }
        auto& on = comm.rank() == 0 ? first : fresh;
        on.restore(first.save());
        for (int k = 3; k < 6; ++k) {
            auto g = gradients(comm.rank(), k);
            whole_step(on, g);
            CHECK(g == right[std::size_t(comm.rank() * 6 + k)]);
        }
    });
}

TEST_CASE("after the first steps nothing is allocated") {
    threads::run(2, [](threads::member& comm) {  // counted for each thread by itself
        auto const steps_of = [&](auto& reduce) {
            auto g = gradients(comm.rank(), 0);
            auto const step = [&] {
                for (auto const l : backwards) reduce.start(l, g[l], {.loss_scale = 2, .step_size = 0.5});
                reduce.finish();
            };
            CHECK(last_to_allocate(10, step) <= 5);
        };
        for (std::size_t const share_below : {0u, 4096u}) {
            reducer errors(error_feedback{top_k{4}}, comm, three, {.share_below = share_below});
            reducer differences(ef21_shift{top_k{4}}, comm, three, {.share_below = share_below});
            reducer all(plain{}, comm, three, {.share_below = share_below});
            steps_of(errors), steps_of(differences), steps_of(all);
        }
    });
}

TEST_CASE("what is saved goes on with the layers listed in another order, and another size is refused by name") {
    int const n = 2, steps = 20;
    auto const right = run(n, shifted{rand_k{4} | natural{}}, steps);
    fibers::run(n, [&](fibers::member& comm) {
        shifted const how{rand_k{4} | natural{}};
        reducer first(how, comm, three, {.seed = 0});
        for (int k = 0; k < 7; ++k) {
            auto g = gradients(comm.rank(), k);
            whole_step(first, g);
        }
        auto const state = first.save();
        reducer other(how, comm, std::vector<layer>{three[1], three[2], three[0]}, {.seed = 0});
        other.restore(state);
        for (int k = 7; k < steps; ++k) {
            auto g = gradients(comm.rank(), k);
            other.start(2, g[0]), other.start(0, g[1]), other.start(1, g[2]), other.finish();
            CHECK(g == right[std::size_t(comm.rank() * steps + k)]);
        }
        auto longer = three;
        longer[2].size = 26;
        reducer another(how, comm, longer, {.seed = 0});
        CHECK_THROWS_WITH_AS(another.restore(state), doctest::Contains("layer head.weight: 26 numbers"), shape_error);
    });
}

TEST_CASE("layers of doubles, and layers by their sizes alone") {
    fibers::run(2, [](fibers::member& comm) {
        auto reduce = reducer_of<double>(plain{}, comm, {{"a", 2}, {"b", 1}});
        std::vector<double> a{1, 2.0 * comm.rank()}, b{3};
        reduce.start(0, a), reduce.start(1, b), reduce.finish();
        CHECK(a == std::vector<double>{1, 1});
        reducer by_size(plain{}, comm, std::vector<std::size_t>{3, 4});
        CHECK(by_size.layers()[1].size() == 4);
        CHECK(by_size.layers()[1].name() == "1");
    });
}

TEST_CASE("more layers than messages can be on their way at once, over threads and fibers: as if each were alone") {
    std::vector<std::size_t> const sizes(21, 30);
    auto const check = [&](auto& comm) {
        reducer together(error_feedback{top_k{4}}, comm, sizes, {.share_below = 0});
        reducer joint(error_feedback{top_k{4}}, comm, sizes);
        for (int k = 0; k < 6; ++k) {
            std::vector<std::vector<float>> one, other;
            for (std::size_t l = 0; l < sizes.size(); ++l)
                one.push_back(gradients(comm.rank(), 100 * k + int(l))[0]), one.back().resize(30);
            other = one;
            for (std::size_t l = sizes.size(); l-- > 0;) {
                together.start(l, one[l]);
                joint.start(l, other[l]);  // while messages of the other reducer are on their way
            }
            if (k == 3) {
                together.drop(), joint.drop();
                CHECK(one == other);
                continue;
            }
            joint.finish(), together.finish();
            CHECK(one == other);
        }
        CHECK(together.steps() == 5);
    };
    fibers::run(3, [&](fibers::member& comm) { check(comm); });
    threads::run(3, [&](threads::member& comm) { check(comm); });
}
