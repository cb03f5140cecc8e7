// SPDX-License-Identifier: Apache-2.0
// A `reducer` over a hierarchy of nodes has the flat mean where sums are exact, and its steps are transactions.
#include "laconic/hierarchy.hpp"

#include <cstdio>

#include "laconic/comm/fibers.hpp"
#include "support/allocations.hpp"
#include "support/everything.hpp"
#include "support/reducing.hpp"

using namespace reducing;

std::vector<layer> const layers{{"w", 43}, {"bias", 3}, {"one", 1}, {"head", 80}};

// Whole numbers, of which sums of 8 are exact.
vectors whole_gradients(int rank, int step) {
    vectors all;
    for (auto const& l : layers) {
        auto const k = key{21}.child(std::uint64_t(rank)).child(std::uint64_t(step)).child(l.size);
        auto& g = all.emplace_back(l.size);
        for (std::size_t i = 0; i < l.size; ++i) g[i] = float(std::floor(200 * k.uniform(i)) - 100);
    }
    return all;
}

TEST_CASE("hierarchy: 8 ranks as 2 x 4, 4 x 2, 8 x 1 and 1 x 8 have the flat mean, where sums are exact") {
    auto const check = []<class Engine>(std::type_identity<Engine>, int nodes, int per_node) {
        on_nodes<Engine>(nodes, per_node, [&](auto& both, auto& comm) {
            reducer in_nodes(plain{}, both, layers);
            reducer flat(plain{}, comm, layers);
            for (int k = 0; k < 3; ++k) {
                auto g = whole_gradients(comm.rank(), k), h = g;
                whole_step(in_nodes, g), whole_step(flat, h);
                CHECK(g == h);
            }
            auto const did = in_nodes.statistics();
            CHECK(did.steps == 3);
            CHECK((did.bytes_inside > 0) == (per_node > 1));
            CHECK((did.bytes_received > 0) == (nodes > 1));
        });
    };
    for (int const nodes : {1, 2, 4, 8}) check(std::type_identity<fibers>{}, nodes, 8 / nodes);
    check(std::type_identity<threads>{}, 2, 4);
}

TEST_CASE("hierarchy: of layers whose names have a *, those in full are those that the options or the layer say") {
    on_nodes(2, 2, [](auto& both, fibers::member&) {
        std::vector<layer> named{{"w*", 4}, {"w2", 40}, {"v", 40}};
        named[2].in_full = true;
        reducer reduce(error_feedback{top_k{1}}, both, named, {.dense_below = 10});
        std::vector<float> small(4, 1), large(40, 1), as_named(40, 1);
        reduce.start(0, small), reduce.start(1, large), reduce.start(2, as_named);
        reduce.finish();
        CHECK(small == std::vector<float>(4, 1));
        CHECK(std::count(large.begin(), large.end(), 1.f) == 2);  // of each share one
        CHECK(as_named == std::vector<float>(40, 1));
    });
}

TEST_CASE("hierarchy: an estimate that the caller's numbers cannot hold fails the step on all ranks") {
    using half = Eigen::half;
    for (auto const then : {on_non_finite::raise, on_non_finite::propagate})
        on_nodes(2, 2, [&](auto& both, auto&) {
            std::vector<half> x(4, half(60000));
            reducer reduce(error_feedback{top_k{1}}, both, x, {.non_finite = then});
            reduce(x);  // of each share of 2 numbers one waits
            CHECK(reduce.statistics().bytes_in_full == 4);
            std::vector<half> y(4, half(1));
            y[3] = half(60000);
            auto const before = reduce.save();
            auto const again = [&] { reduce(y, {.loss_scale = 0.5}); };
            if (then == on_non_finite::raise)
                CHECK_THROWS_WITH_AS(again(),
                                     "round 1: the estimate, times the loss scale, is beyond the caller's numbers at "
                                     "coordinate 3",
                                     non_finite_error);
            else
                again();
            for (std::size_t i = 0; i < 4; ++i)
                CHECK((then == on_non_finite::raise ? float(y[i]) == (i == 3 ? 60000 : 1) : std::isnan(float(y[i]))));
            CHECK(reduce.save() == before);
            y = std::vector<half>(4, half(1));
            reduce(y, {.loss_scale = 0.5});
            CHECK(float(y[1]) == 30000);
        });
}

TEST_CASE("hierarchy: a layer that one rank of a node alone does not start is an error that names both") {
    for (auto const what : {on_missing_layer::raise, on_missing_layer::skip})
        on_nodes(2, 2, [&](auto& both, fibers::member& comm) {
            reducer reduce(plain{}, both, std::vector<layer>{{"a", 8}, {"b", 8}}, {.missing_layer = what});
            std::vector<float> a(8), b(8);
            reduce.start(0, a);
            if (comm.rank() != 1) reduce.start(1, b);
            CHECK(error_of([&] { reduce.finish(); }) ==
                  (what == on_missing_layer::raise ? "rank 1, round 0: layer b was not started"
                                                   : "rank 1, round 0: layer b was not started, unlike on rank 0"));
        });
}

TEST_CASE(
    "hierarchy: vectors of no numbers and of one, on 1 and 7 ranks, and nothing is allocated after the first steps") {
    for (int const n : {1, 7})
        for (std::size_t const d : {0u, 1u, 5u})
            threads::run(n, [&](threads::member& comm) {  // counted for each thread by itself
                auto inside = comm.split(0, 0), across = comm.split(comm.rank(), 0);
                hierarchy both{inside, across};
                reducer reduce(ef21_shift{top_k{1.0}}, both, std::vector<layer>{{"a", d}, {"b", 9}});
                std::vector<float> a(d, float(comm.rank())), b(9, 0.0f);
                auto const step = [&] {
                    std::fill(a.begin(), a.end(), float(comm.rank()));
                    reduce.start(0, a), reduce.start(1, b), reduce.finish();
                };
                CHECK(last_to_allocate(10, step) <= 5);
                for (float const v : a) CHECK(v == doctest::Approx(float(n - 1) / 2));
                for (float const v : b) CHECK(v == 0);
            });
}

TEST_CASE("hierarchy: rounds of local steps agree on the mean of the models, and on the outer step") {
    on_nodes(2, 2, [&](auto& both, fibers::member& comm) {
        std::vector<float> y(5, 1);
        outer_reducer outer(plain{}, both, y);
        for (float& v : y) v += float(comm.rank());
        outer(y);
        CHECK(y == std::vector<float>(5, 2.5f));
        outer.rebind(both);
        for (float& v : y) v -= float(comm.rank());
        outer(y);
        CHECK(y == std::vector<float>(5, 1));
        momentum<float> const step(comm.rank() == 3 ? .5 : .7, .9);
        CHECK_THROWS_AS(outer_reducer(plain{}, both, y, step), agreement_error);
    });
}

TEST_CASE("hierarchy: a sum that overflows is written as NaN where that is asked for") {
    on_nodes(2, 2, [&](auto& both, fibers::member&) {
        std::vector<float> x(5, 3e38f);
        reducer reduce(plain{identity{}, ring{}}, both, x, {.non_finite = on_non_finite::propagate});
        reduce(x);
        CHECK(std::isnan(x[0]));
    });
}

TEST_CASE("hierarchy: ranks count by their weights, also where a node has none, and steps may be dense") {
    double const all_weights[][8] = {{1, 3, 0, 0, 6, 6, 0, 0}, {1, 3, 2, 2, 0, 0, 0, 0}, {1, 1, 1, 1, 1, 1, 1, 1}};
    on_nodes(2, 4, [&](auto& both, fibers::member& comm) {
        reducer_options const options{.steps_vary = true};
        reducer in_nodes(plain{}, both, layers, options);
        reducer flat(plain{}, comm, layers, options);
        reducer residuals(error_feedback{top_k{0.1}}, both, layers, options);
        for (int k = 0; k < 6; ++k) {
            step_options const now{.loss_scale = 4, .weight = all_weights[k % 3][comm.rank()], .dense = k % 2 == 1};
            auto g = whole_gradients(comm.rank(), k), h = g, full = g;
            if (now.weight == 0) g[0][0] = std::nanf("");  // is not read
            whole_step(in_nodes, g, now), whole_step(flat, h, now);
            CHECK(g == h);
            step_options dense{.loss_scale = 4, .weight = now.weight, .dense = true};
            whole_step(residuals, full, dense);
            if (k == 0) CHECK(full == h);  // nothing waits
        }
    });
}

TEST_CASE(
    "hierarchy: ranks whose step sizes, loss scales or types of numbers differ see it, in a node and between nodes") {
    auto const check = [](auto const& options_of, bool vary, std::string const& in_node, std::string const& between) {
        for (int const nodes : {1, 2, 4})
            on_nodes(nodes, 4 / nodes, [&](auto& both, fibers::member& comm) {
                reducer reduce(error_feedback{top_k{0.2}}, both, layers, {.steps_vary = vary});
                auto g = whole_gradients(comm.rank(), 0);
                whole_step(reduce, g);
                auto const state = reduce.save();
                g = whole_gradients(comm.rank(), 1);
                auto const before = g;
                auto const text =
                    error_of<agreement_error>([&] { whole_step(reduce, g, options_of(comm.rank() == 3)); });
                CHECK(text.find(nodes == 4 ? between : in_node) != std::string::npos);
                CHECK(g == before);
                CHECK(reduce.save() == state);
                whole_step(reduce, g);
                CHECK(reduce.steps() == 2);
            });
    };
    std::string const in_node = "rank 3 has another step size, loss scale or type of numbers than rank ";
    for (bool const vary : {false, true}) {
        check([](bool odd) { return step_options{.step_size = odd ? 0.25 : 0.5}; }, vary, in_node,
              "rank 0 has \"the step size: 0.5\", rank 3 has \"the step size: 0.25\"");
        check([](bool odd) { return odd ? step_options{.step_size = 2} : step_options{}; }, vary, in_node,
              "rank 3 has \"the step size: 2\"");
    }
    check([](bool odd) { return step_options{.loss_scale = odd ? 8.0 : 0.5}; }, false, in_node,
          "the largest number that is written: ");
}

TEST_CASE("hierarchy: weights that cannot be, that differ between layers, and steps that only some call dense") {
    auto const check_errors = [](auto mistake, auto body) {
        for (int const culprit : {0, 1, 3})
            on_nodes(2, 2, [&](auto& both, fibers::member& comm) {
                reducer reduce(error_feedback{top_k{0.2}}, both, layers, {.steps_vary = true});
                reducer untroubled(error_feedback{top_k{0.2}}, both, layers, {.steps_vary = true});
                for (int k = 0; k < 4; ++k) {
                    if (k != 3) {
                        auto g = whole_gradients(comm.rank(), 50);
                        auto const before = g;
                        std::string text;
                        try {
                            mistake(reduce, g, comm.rank() == culprit);
                        } catch (error const& e) {
                            text = e.what();
                        }
                        body(culprit, text);
                        CHECK(g == before);
                    }
                    auto g = whole_gradients(comm.rank(), k), h = g;
                    whole_step(reduce, g), whole_step(untroubled, h);
                    CHECK(g == h);
                }
            });
    };
    auto const text_is = [](std::string const& what) {
        return [what](int culprit, std::string const& text) {
            CAPTURE(text);
            CHECK(text.find("rank " + std::to_string(culprit) + ", round ") == 0);
            CHECK(text.substr(text.find(": ") + 2) == what);
        };
    };
    for (auto const& [weight, name] : {std::pair{-1.0, "-1"}, {double(INFINITY), "inf"}, {double(NAN), "nan"}})
        check_errors([w = weight](auto& reduce, auto& g,
                                  bool mine) { whole_step(reduce, g, {.weight = mine ? w : 1, .dense = true}); },
                     text_is("a weight of " + std::string(name) + ", which must be finite and at least 0"));
    check_errors(
        [](auto& reduce, auto& g, bool mine) {
            for (std::size_t l = g.size(); l-- > 0;) reduce.start(l, g[l], {.weight = mine && l == 1 ? 2.0 : 1.0});
            reduce.finish();
        },
        text_is("the layers of one step have different weights, or are not all dense"));
    check_errors([](auto& reduce, auto& g, bool mine) { whole_step(reduce, g, {.dense = mine}); },
                 [](int culprit, std::string const& text) {
                     int named = -1, step = -1, other = -1;
                     bool const is_not = text.find("is not dense") != text.npos;
                     CAPTURE(text);
                     CHECK(std::sscanf(text.c_str(),
                                       is_not ? "rank %d: step %d is not dense, unlike on rank %d"
                                              : "rank %d: step %d is dense, unlike on rank %d",
                                       &named, &step, &other) == 3);
                     CHECK((is_not ? other : named) == culprit);
                 });
    check_errors([](auto& reduce, auto& g, bool) { whole_step(reduce, g, {.weight = 0}); },
                 [](int, std::string const& text) { CHECK(text.find("the ranks' weights add up to 0") != text.npos); });
}

TEST_CASE("hierarchy: a step that all drop changes nothing, and one that a rank drops alone fails on all") {
    for (bool const vary : {false, true})
        on_nodes(2, 2, [&](auto& both, fibers::member& comm) {
            reducer reduce(shifted{rand_k{0.5}}, both, layers, {.seed = 0, .steps_vary = vary});
            reducer untroubled(shifted{rand_k{0.5}}, both, layers, {.seed = 0, .steps_vary = vary});
            for (int k = 0; k < 4; ++k) {
                auto g = whole_gradients(comm.rank(), 70), h = g;
                if (comm.rank() != 1) reduce.start(0, g[0]), reduce.start(1, g[1]);  // or nothing
                reduce.drop();
                CHECK(g == h);
                for (std::size_t l = 0; l < layers.size(); ++l) reduce.start(l, g[l]);
                if (comm.rank() == k)
                    reduce.drop();
                else
                    CHECK_THROWS_WITH_AS(
                        reduce.finish(),
                        ("rank " + std::to_string(k) + ", round " + std::to_string(k) + ": the step was dropped there")
                            .c_str(),
                        compression_error);
                CHECK(g == h);
                g = h = whole_gradients(comm.rank(), k);
                whole_step(reduce, g), whole_step(untroubled, h);
                CHECK(g == h);
            }
        });
}

TEST_CASE("hierarchy: it goes on over the nodes that are left, and over more from saved states") {
    std::vector<std::vector<std::byte>> saved(6);
    auto const mean = [](int ranks, int k, std::size_t l) {
        std::vector<float> sum(layers[l].size);
        for (int r = 0; r < ranks; ++r)
            for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += whole_gradients(r, k)[l][i];
        for (float& v : sum) v /= float(ranks);
        return sum;
    };
    auto const is_mean = [&](auto& reduce, int rank, int ranks, int k) {
        auto g = whole_gradients(rank, k);
        whole_step(reduce, g);
        for (std::size_t l = 0; l < layers.size(); ++l) CHECK(g[l] == mean(ranks, k, l));
    };
    // A shift by all of the difference is the last gradient: the estimate is the mean only if the mean shift is.
    on_nodes(3, 2, [&](auto& both, fibers::member& comm) {
        reducer<ef21_shift<identity>, std::decay_t<decltype(both)>> reduce(ef21_shift{identity{}}, both, layers);
        auto g = whole_gradients(comm.rank(), 0);
        whole_step(reduce, g);
        // In another order a rank would have another share.
        auto turned = comm.split(comm.rank() / 2, -comm.rank()), others = comm.split(turned.rank(), 0);
        CHECK_THROWS_AS(reduce.rebind(hierarchy{turned, others}), agreement_error);
        bool const left = comm.rank() < 4;
        auto inside = comm.split(comm.rank() / 2, 0);
        auto across = comm.split(comm.rank() % 2 + (left ? 0 : 2), 0);
        hierarchy rest{inside, across};
        if (!left) return;
        reduce.rebind(rest);
        auto const before = reduce.statistics().bytes_inside;
        CHECK(before > 0);
        for (int k = 1; k < 4; ++k) is_mean(reduce, comm.rank(), 4, k);
        CHECK(reduce.statistics().bytes_inside > before);
        saved[std::size_t(comm.rank())] = reduce.save();
    });
    saved.resize(4);
    on_nodes(4, 2, [&](auto& both, fibers::member& comm) {
        reducer reduce(ef21_shift{identity{}}, both, layers);
        CHECK_THROWS_AS(reduce.restore(std::span(saved).first(3)), shape_error);
        auto swapped = saved;
        std::swap(swapped[0], swapped[1]);
        CHECK_THROWS_AS(reduce.restore(swapped), shape_error);
        reduce.restore(saved);
        CHECK(reduce.steps() == 4);
        for (int k = 4; k < 6; ++k) is_mean(reduce, comm.rank(), 8, k);
    });
}
