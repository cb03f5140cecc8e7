// SPDX-License-Identifier: Apache-2.0
// Layers that some ranks do not start: every rank gets the same estimate, and nothing of a residual is lost.
#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"
#include "support/reducing.hpp"

using namespace reducing;

using numbers = std::vector<double>;

std::vector<layer> const layers{{"a", 7}, {"b", 12}, {"c", 4}};
std::size_t const count = layers.size(), k = 2;  // top_k keeps k numbers of what a rank compresses
auto const vary = [](int step, std::uint64_t of, std::uint64_t choices) {
    return key{77}.child(of).child(std::uint64_t(step)).word(0) % choices;
};
bool is_missing(int rank, int step, std::size_t l) {
    return vary(step, 100 + 10 * std::uint64_t(rank) + l, 5) < 2 || vary(step, 90 + l, 6) == 0;  // often, or everywhere
}
std::vector<float> gradient(int rank, int step, std::size_t l) { return gradients(rank, step, {7, 12, 4})[l]; }

// What a reduction does, by plain loops.
struct form {
    double alpha = 0, decay = 0;
    bool all = false;     // all numbers are sent
    bool exact = true;    // else the loops do not know which terms a collective leaves to later steps
    bool weights = true;  // ranks may have weights
};
std::vector<char> chosen(numbers const& x, bool all) {
    std::vector<std::size_t> at(x.size());
    std::iota(at.begin(), at.end(), std::size_t{0});
    std::sort(at.begin(), at.end(), [&](auto i, auto j) { return std::abs(x[i]) > std::abs(x[j]); });
    std::vector<char> is(x.size());
    for (std::size_t i = 0; i < at.size(); ++i) is[at[i]] = all || i < k;
    return is;
}

// One layer, over nodes of so many ranks: node m's rank s keeps the state of numbers first(s) .. first(s + 1) - 1.
struct model {
    form how;
    std::size_t d, nodes, per_node;
    std::vector<numbers> e, h;  // by rank, of its share
    numbers arrived, brought;   // the sums of estimates, and of mean gradients
    double rate = 0;

    model(form f, std::size_t size, std::size_t m, std::size_t n) : how(f), d(size), nodes(m), per_node(n) {
        for (std::size_t r = 0; r < m * n; ++r) e.emplace_back(length(r % n)), h.emplace_back(length(r % n));
        arrived.resize(d), brought.resize(d);
    }
    std::size_t first(std::size_t s) const { return d * s / per_node; }
    std::size_t length(std::size_t s) const { return first(s + 1) - first(s); }

    // The estimate of all numbers; g has each rank's gradient, without a scale, zeros where it is missing.
    numbers step(std::vector<numbers> const& g, numbers const& weights, double step_size, bool dense) {
        numbers estimate(d);
        double const sum = std::accumulate(weights.begin(), weights.end(), 0.0);
        double const waited = rate > 0 && step_size > 0 ? rate / step_size : 1;
        if (step_size > 0) rate = step_size;
        for (std::size_t r = 0; r < e.size(); ++r) {
            std::size_t const s = r % per_node, from = first(s);
            numbers delta(length(s));
            for (std::size_t i = 0; i < delta.size(); ++i) {
                for (std::size_t j = 0; j < per_node; ++j) {
                    auto const rank = r / per_node * per_node + j;
                    delta[i] += weights[rank] * g[rank][from + i] * double(nodes) / sum;
                }
                brought[from + i] += delta[i] / double(nodes);
                delta[i] += how.decay * waited * e[r][i] - h[r][i];
            }
            auto const sent = chosen(delta, how.all || dense);
            for (std::size_t i = 0; i < delta.size(); ++i) {
                double const m = sent[i] ? delta[i] : 0;
                estimate[from + i] += (h[r][i] + m) / double(nodes);
                e[r][i] = how.decay > 0 ? delta[i] - m : 0;
                h[r][i] += how.alpha * m;
            }
        }
        return estimate;
    }
};

struct variant {
    on_missing_layer what;
    bool rates, scales, vary;  // step sizes and loss scales that change; weights and dense steps
};

void compare_with_model(auto const& how, form const& f, auto&& nodes, fibers::member& comm, std::size_t m,
                        std::size_t n, variant const& v) {
    reducer reduce(
        how, nodes, layers,
        {.missing_layer = v.what, .share_below = v.rates ? 8u : 4096u, .steps_vary = v.vary, .verify_every = 1});
    std::vector<model> models;
    for (auto const& l : layers) models.emplace_back(f, l.size, m, n);
    int const ranks = int(m * n), rank = comm.rank();
    vectors mine(count);
    for (std::size_t l = 0; l < count; ++l) {
        mine[l].resize(layers[l].size);
        if (v.what == on_missing_layer::zero) reduce.bind(l, std::span(mine[l]));
    }
    int taken = 0;
    for (int step = 0; step < 30; ++step) {
        double const rate = v.rates ? 0.5 / double(1 + vary(step, 1, 4)) : 0,
                     scale = v.scales ? double(1 << vary(step, 2, 4)) : 1;
        bool const dense = v.vary && vary(step, 3, 4) == 0,
                   alike = v.what == on_missing_layer::skip && vary(step, 4, 5) != 0;
        numbers weights(std::size_t(ranks), 1.0);
        if (v.vary && f.weights)
            for (std::size_t r = 0; r < weights.size(); ++r) weights[r] = double((r + std::size_t(step)) % 3);
        auto const missing = [&](int r, std::size_t l) { return is_missing(alike ? 0 : r, step, l); };
        bool fails = false;
        std::vector<std::vector<numbers>> all(count);
        for (std::size_t l = 0; l < count; ++l)
            for (int r = 0; r < ranks; ++r) {
                auto const g = gradient(r, step, l);
                auto& a = all[l].emplace_back(g.size());
                if (!missing(r, l)) a.assign(g.begin(), g.end());
                fails = fails || (v.what == on_missing_layer::raise && missing(r, l)) ||
                        (v.what == on_missing_layer::skip && missing(r, l) != missing(0, l));
            }
        step_options const options{.loss_scale = scale,
                                   .step_size = rate > 0 ? std::optional(rate) : std::nullopt,
                                   .weight = weights[std::size_t(rank)],
                                   .dense = dense};
        bool starts_any = false;
        for (std::size_t l = count; l-- > 0;) {
            mine[l].assign(layers[l].size, 99.0f);
            if (missing(rank, l)) continue;
            std::ranges::copy(gradient(rank, step, l), mine[l].begin());  // which stays where it is
            for (auto& x : mine[l]) x *= float(scale);
            reduce.start(l, mine[l], options);
            starts_any = true;
        }
        auto const before = mine;
        auto const why = error_of([&] { starts_any ? reduce.finish() : reduce.finish(options); });
        CHECK((why != "nothing") == fails);
        comm.all_gather({std::as_bytes(std::span(why))});
        for (int r = 0; r < ranks; ++r) CHECK(detail::text_of_bytes(comm.from(r).bytes) == why);
        if (fails) CHECK(mine == before);
        if (fails) continue;
        ++taken;
        for (std::size_t l = 0; l < count; ++l) {
            if (v.what == on_missing_layer::skip && missing(rank, l)) {
                CHECK(mine[l] == before[l]);
                continue;
            }
            auto const estimate = models[l].step(all[l], weights, rate, dense);
            for (std::size_t i = 0; i < estimate.size(); ++i) {
                if (f.exact) CHECK(mine[l][i] / scale == doctest::Approx(estimate[i]).epsilon(1e-4));
                models[l].arrived[i] += mine[l][i] / scale;
            }
            comm.all_gather({std::as_bytes(std::span(mine[l]))});
            for (int r = 1; r < ranks; ++r)
                CHECK(detail::text_of_bytes(comm.from(r).bytes) == detail::text_of_bytes(comm.from(0).bytes));
            auto const& memory = reduce.layers()[l].feedback();
            std::size_t const own = std::size_t(rank), from = models[l].first(own % n);
            for (std::size_t i = 0; i < models[l].e[own].size(); ++i) {
                if (f.decay > 0 && f.exact)
                    CHECK(memory.residual()[i] == doctest::Approx(models[l].e[own][i]).epsilon(1e-4));
                if (f.alpha > 0) CHECK(memory.shift()[i] == doctest::Approx(models[l].h[own][i]).epsilon(1e-4));
            }
            if (f.decay != 1 || v.rates) continue;
            std::vector<float> waits(layers[l].size);  // what arrived and what waits is what was brought
            std::copy(memory.residual().begin(), memory.residual().end(), waits.begin() + std::ptrdiff_t(from));
            comm.all_gather({std::as_bytes(std::span(waits))});
            numbers sum(waits.size());
            for (int r = 0; r < ranks; ++r)
                for (std::size_t i = 0; i < sum.size(); ++i)
                    sum[i] += reinterpret_cast<float const*>(comm.from(r).bytes.data())[i] / double(m);
            for (std::size_t i = 0; i < sum.size(); ++i)
                CHECK(models[l].arrived[i] + sum[i] == doctest::Approx(models[l].brought[i]).epsilon(1e-4));
        }
    }
    CHECK(taken >= (v.what == on_missing_layer::raise ? 0 : 10));
    CHECK((v.what == on_missing_layer::zero) == (taken == 30));
}

void on_all_variants(auto const& how, form const& f, bool skips = true) {
    CAPTURE(to_string(how));
    for (variant const v : {variant{on_missing_layer::raise, false, false, false},
                            {on_missing_layer::zero, false, false, false},
                            {on_missing_layer::zero, f.decay > 0, true, f.weights},
                            {on_missing_layer::skip, false, false, false},
                            {on_missing_layer::skip, f.decay > 0, true, f.weights}}) {
        if (v.what == on_missing_layer::skip && !skips) continue;
        CAPTURE(int(v.what));
        CAPTURE(v.scales);
        fibers::run(4, [&](fibers::member& comm) { compare_with_model(how, f, comm, comm, 4, 1, v); });
        for (int const m : {2, 3})
            on_nodes(m, 2, [&](auto& nodes, fibers::member& comm) {
                compare_with_model(how, f, nodes, comm, std::size_t(m), 2, v);
            });
    }
}

TEST_CASE(
    "absent layers: every form of reduction, flat and over nodes, raise, zero and skip, is the one by plain loops") {
    on_all_variants(plain{}, {.all = true});
    on_all_variants(unproved{plain{top_k{k}}}, {});
    on_all_variants(error_feedback{top_k{k}}, {.decay = 1});
    on_all_variants(error_feedback{top_k{k}, 0.5}, {.decay = 0.5});
    on_all_variants(error_feedback{top_k{k}, 1, ring{}}, {.decay = 1}, false);
    on_all_variants(error_feedback{top_k{k}, 1, gtop_k{k}}, {.decay = 1, .exact = false}, false);
    on_all_variants(ef21_shift{top_k{k}}, {.alpha = 1, .weights = false});
    on_all_variants(shifted{identity{}}, {.alpha = 0.5, .all = true, .weights = false});
    on_all_variants(shift_at_rate<top_k<>>{top_k{k}, 0.25}, {.alpha = 0.25, .weights = false});
}

TEST_CASE("absent layers, zero: a layer without a bound vector is an error on all ranks, and the next steps go on") {
    on_ranks_and_nodes([](auto& nodes, fibers::member& comm) {
        reducer reduce(error_feedback{top_k{k}}, nodes, layers, {.missing_layer = on_missing_layer::zero});
        vectors g(count);
        auto const step = [&](bool without) {
            for (std::size_t l = count; l-- > 0;) g[l] = gradient(comm.rank(), 0, l);
            auto const before = g;
            for (std::size_t l = count; l-- > 0;)
                if (!without || l != 1) reduce.start(l, g[l]);
            std::string why;
            try {
                reduce.finish();
            } catch (compression_error const& e) {
                why = e.what();
                CHECK(g == before);
            }
            return why;
        };
        for (std::uint64_t of_first = 0; of_first < 2; ++of_first) {
            auto const why = step(comm.rank() >= 2);
            CHECK(why.find("rank 2, round " + std::to_string(of_first) + ": layer b: not started") == 0);
            CHECK(why.find("call bind(layer, x)") != why.npos);
            CHECK(step(false).empty());
        }
        std::vector<float> too_long(13);
        CHECK_THROWS_AS(reduce.bind(1, too_long), shape_error);
        CHECK_THROWS_AS(reduce.bind(3, too_long), argument_error);
        g[1] = gradient(comm.rank(), 0, 1);
        reduce.bind(1, g[1]);
        auto const b = std::span(g[1]);
        for (std::size_t l : {2u, 0u}) reduce.start(l, g[l]);
        reduce.finish();
        CHECK(b.data() == g[1].data());
        CHECK(reduce.steps() == 3);
    });
}

TEST_CASE("absent layers, zero: what finish() is given is for a step without a layer, and layers share their options") {
    fibers::run(2, [](fibers::member& comm) {
        reducer reduce(plain{}, comm, std::vector<layer>{{"a", 1}, {"b", 1}},
                       {.missing_layer = on_missing_layer::zero, .steps_vary = true});
        std::vector<float> a(1), b(1);
        reduce.bind(0, a), reduce.bind(1, b);
        for (int step = 0; step < 3; ++step) {
            a[0] = 6, b[0] = 12;
            step_options const now{.loss_scale = 2, .weight = 2.0 + comm.rank()};
            if (comm.rank() == step % 2) {
                reduce.start(1, b, now), reduce.start(0, a, now);
                CHECK_THROWS_AS(reduce.finish({.loss_scale = 4, .weight = now.weight}), argument_error);
                reduce.finish();
            } else {
                reduce.finish(now);
            }
            float const share = (2 + float(step % 2)) / 5;
            CHECK(a[0] == doctest::Approx(6 * share));
            CHECK(b[0] == doctest::Approx(12 * share));
        }
        auto const why = error_of<compression_error>([&] {
            reduce.start(1, b), reduce.start(0, a, {.step_size = comm.rank() == 1 ? std::optional(0.5) : std::nullopt});
            reduce.finish();
        });
        CHECK(why.find("rank 1, round 3: the layers of one step have different loss scales or step sizes") == 0);
    });
}

TEST_CASE("absent layers, zero: not a number makes all vectors NaN, those that are bound, too") {
    on_ranks_and_nodes([](auto& nodes, fibers::member& comm) {
        reducer reduce(error_feedback{top_k{k}}, nodes, layers,
                       {.non_finite = on_non_finite::propagate, .missing_layer = on_missing_layer::zero});
        vectors g(count);
        for (std::size_t l = 0; l < count; ++l) g[l] = gradient(comm.rank(), 0, l), reduce.bind(l, g[l]);
        if (comm.rank() == 3) g[1][2] = std::numeric_limits<float>::quiet_NaN();
        if (comm.rank() == 3) reduce.start(1, g[1]);
        if (comm.rank() == 1) reduce.start(0, g[0]);
        reduce.finish();
        for (auto const& x : g) CHECK(std::all_of(x.begin(), x.end(), [](float v) { return v != v; }));
        CHECK(reduce.steps() == 0);
    });
}

TEST_CASE("propagate over nodes leaves a vector of another length as it is") {
    on_nodes(2, 2, [](auto& nodes, fibers::member& comm) {
        reducer reduce(plain{}, nodes, std::size_t{4}, {.non_finite = on_non_finite::propagate});
        std::vector<float> x(comm.rank() == 3 ? 99 : 4, 1.0f);
        if (comm.rank() == 0) x[1] = std::numeric_limits<float>::infinity();
        reduce(x);
        if (comm.rank() != 3) CHECK(std::isnan(x[0]));
        if (comm.rank() == 3) CHECK(x == std::vector<float>(99, 1.0f));
    });
}

TEST_CASE("absent layers, zero: ranks lack different layers in the first step, after a restore and after a rebind") {
    fibers::run(3, [](fibers::member& comm) {
        reducer reduce(error_feedback{top_k{k}}, comm, layers, {.missing_layer = on_missing_layer::zero});
        vectors g(count);
        for (std::size_t l = 0; l < count; ++l) g[l].resize(layers[l].size), reduce.bind(l, g[l]);
        auto const step = [&](int number, bool lacks) {
            for (std::size_t l = count; l-- > 0;) {
                std::ranges::copy(gradient(comm.rank(), number, l), g[l].begin());
                if (!lacks || l != std::size_t(comm.rank())) reduce.start(l, g[l]);
            }
            reduce.finish();
        };
        for (int turn = 0; turn < 3; ++turn) {
            step(0, true), step(1, true), step(2, false), step(3, true);
            if (turn == 0) reduce.restore(reduce.save());
            if (turn == 1) reduce.rebind(comm);
        }
        CHECK(reduce.steps() == 12);
    });
}

TEST_CASE("one more layer than a step has is refused by start(), keeps its numbers, and the step goes on") {
    for (std::size_t const length : {3u, 4u, 9u})
        fibers::run(2, [&](fibers::member& comm) {
            reducer reduce(error_feedback{top_k{1}}, comm, std::vector<layer>{{"a", 4}, {"b", 2}},
                           {.missing_layer = on_missing_layer::skip});
            std::vector<float> a{1, 2, 3, 4}, b{1, 2}, late(length, 7.0f);
            reduce.start(0, a), reduce.start(1, b), reduce.finish();
            reduce.start(1, b), reduce.start(0, a);
            CHECK_THROWS_WITH_AS(reduce.start(0, late), "layer a is started twice after all messages of the step",
                                 argument_error);
            reduce.finish();
            CHECK(late == std::vector<float>(length, 7.0f));
            CHECK(reduce.steps() == 2);
        });
}

TEST_CASE("absent layers, skip: what is wrong on another rank is named, over nodes, too, and NaN propagates") {
    for (bool const propagates : {false, true})
        for (int const culprit : {0, 1, 3})
            on_nodes(2, 2, [&](auto& nodes, fibers::member& comm) {
                reducer reduce(error_feedback{top_k{1}}, nodes, layers,
                               {.non_finite = propagates ? on_non_finite::propagate : on_non_finite::raise,
                                .missing_layer = on_missing_layer::skip});
                vectors g(count);
                for (std::size_t l = 0; l < count; ++l) g[l] = gradient(comm.rank(), 0, l);
                auto const before = g;
                if (comm.rank() == culprit) g[2][3] = std::numeric_limits<float>::quiet_NaN();
                reduce.start(1, g[1]), reduce.start(2, g[2]);  // and 0 is skipped by all
                std::string why;
                try {
                    reduce.finish();
                } catch (non_finite_error const& e) {
                    why = e.what();
                }
                CHECK(why == (propagates ? std::string()
                                         : "rank " + std::to_string(culprit) +
                                               ", round 0: the gradient is not finite at coordinate 3 of layer c"));
                CHECK(std::isnan(g[1][0]) == propagates);
                CHECK(g[0] == before[0]);
            });
    // A node that starts nothing is named, in a step that is dense and has weights, too.
    on_nodes(2, 2, [](auto& nodes, fibers::member& comm) {
        reducer reduce(plain{}, nodes, std::size_t{4}, {.missing_layer = on_missing_layer::skip, .steps_vary = true});
        std::vector<float> x(4, 1.0f);
        step_options const now{.weight = 2, .dense = true};
        if (comm.rank() < 2) reduce.start(0, x, now);
        CHECK_THROWS_WITH_AS(comm.rank() < 2 ? reduce.finish() : reduce.finish(now),
                             "rank 2, round 0: the vector was not started", compression_error);
    });
    // Flat: a mistake on one rank, where others skip the first layer.
    fibers::run(3, [](fibers::member& comm) {
        reducer reduce(plain{}, comm, std::vector<layer>{{"a", 1}, {"b", 1}},
                       {.missing_layer = on_missing_layer::skip, .steps_vary = true});
        std::vector<float> a(1), b(1);
        for (int step = 0; step < 2; ++step) {
            auto const why = error_of<compression_error>([&] {
                if (comm.rank() == 2) reduce.start(0, a, {.weight = 1}), reduce.start(1, b, {.weight = 3});
                if (comm.rank() != 2) reduce.start(1, b);
                reduce.finish();
            });
            CHECK(why == (step == 0
                              ? "rank 2, round 0: the layers of one step have different weights, or are not all dense"
                              : "rank 0, round 1: layer a was not started"));
            if (step == 0) reduce.start(0, a), reduce.start(1, b), reduce.finish();
        }
    });
}
