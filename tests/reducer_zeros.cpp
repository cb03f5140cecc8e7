// SPDX-License-Identifier: Apache-2.0
// A layer whose numbers are zeros on all ranks is skipped: the bits and the state are those of a reducer that does not
// start it, with on_missing_layer::skip. Where one rank alone has others, all is as without the option.
#include "laconic/any/parse_reduction.hpp"
#include "support/everything.hpp"
#include "support/reducing.hpp"

using namespace reducing;

std::vector<layer> const layers{{"a", 24}, {"b", 40}, {"full", 8}, {"d", 30}};

std::uint64_t chance(int step, std::uint64_t of, std::uint64_t choices) {
    return key{78}.child(of).child(std::uint64_t(step)).word(0) % choices;
}
// Whether all ranks, or this one, have zeros.
bool nobody_has(int step, std::size_t l) { return chance(step, l, 3) == 0; }
bool has_zeros(int rank, int n, int step, std::size_t l) {
    return nobody_has(step, l) || (chance(step, 10 + l, 2) == 0 && rank != int(chance(step, 20 + l, std::uint64_t(n))));
}
vectors numbers_of(int rank, int n, int step) {
    auto all = gradients(rank, step, {24, 40, 8, 30});
    for (std::size_t l = 0; l < all.size(); ++l) {
        if (has_zeros(rank, n, step, l)) std::ranges::fill(all[l], 0.0f);
        if (chance(step, 30 + l, 2) == 0) std::fill(all[l].begin() + 1, all[l].end(), 0.0f);  // a share may have zeros
    }
    return all;
}
// What a layer keeps.
auto state_of(auto const& l) {
    std::vector<std::vector<float>> all;
    auto const add = [&](auto const& x) { all.emplace_back(x.begin(), x.end()); };
    auto const& f = l.feedback();
    add(f.residual()), add(f.shift()), add(f.mean_shift()), add(f.momentum());
    return all;
}
auto states_of(auto const& reduce) {
    std::vector<std::vector<std::vector<float>>> all;
    for (auto const& l : reduce.layers()) all.push_back(state_of(l));
    return all;
}

// Each step against one that does not start the layers of zeros.
void compare(auto const& how, auto&& over, auto& comm, reducer_options options) {
    options.seed = 3, options.in_full = {"full"}, options.verify_every = 1;
    auto skips = options, plain_options = options;
    options.skip_zero_layers = true, skips.missing_layer = on_missing_layer::skip;
    reducer reduce(how, over, layers, options), skipping(how, over, layers, skips);
    int skipped = 0;
    for (int step = 0; step < 24; ++step) {
        auto x = numbers_of(comm.rank(), comm.size(), step), y = x;
        auto const before = states_of(reduce);
        step_options const of_step{.loss_scale = 4, .step_size = 1.0 / (1 + step % 3)};
        for (std::size_t i = 0; i < layers.size(); ++i) {
            auto const l = step % 2 == 0 ? i : (i + std::size_t(comm.rank())) % layers.size();  // in any order
            reduce.start(l, x[l], of_step);
        }
        for (std::size_t l = 0; l < layers.size(); ++l)
            if (!nobody_has(step, l)) skipping.start(l, y[l], of_step);
        reduce.finish(), skipping.finish();
        CHECK(x == y);
        auto const after = states_of(reduce);
        CHECK(after == states_of(skipping));
        for (std::size_t l = 0; l < layers.size(); ++l) {
            if (!nobody_has(step, l)) continue;
            ++skipped;
            CHECK(after[l] == before[l]);
            CHECK(x[l] == std::vector<float>(layers[l].size));
        }
    }
    CHECK(skipped > 20);
}
void compare_all(auto const& how, reducer_options const& options = {}) {
    for (int n = 1; n <= 3; ++n) fibers::run(n, [&](fibers::member& comm) { compare(how, comm, comm, options); });
    on_nodes(2, 2, [&](auto& nodes, auto& comm) { compare(how, nodes, comm, options); });
}

TEST_CASE("a layer of zeros on all ranks is skipped") {
    compare_all(error_feedback{top_k{3}});
    compare_all(error_feedback{top_k{3}}, {.dense_rounds = 4, .share_below = 0});
    compare_all(error_feedback{top_k{3} | quantize{4}, 0.9}, {.share_below = 35});
}
TEST_CASE("a layer of zeros on all ranks keeps its momentum and its shift") {
    compare_all(error_feedback{top_k{3}, 1, gather_all{}, 0.9});
    compare_all(shifted{rand_k{5}});
    compare_all(ef21_shift{top_k{3}}, {.share_below = 0});
}
TEST_CASE("a layer of zeros on all ranks is skipped by a reduction that is chosen at run time") {
    for (auto const* text : {"error_feedback(top_k(3), momentum=0.5)", "majority_vote()"}) {
        compare_all(parse_reduction<float>(text));
        compare_all(parse_reduction<float>(text), {.share_below = 0});
    }
}

TEST_CASE("where one rank has other numbers than zeros, all is as without the option") {
    auto const run = [](bool skips, int first_with_numbers) {
        vectors all;
        on_ranks_and_nodes([&](auto& over, auto& comm) {
            reducer reduce(error_feedback{top_k{2}}, over, layers, {.seed = 1, .skip_zero_layers = skips});
            for (int step = 0; step < 6; ++step) {
                auto x = gradients(comm.rank(), step, {24, 40, 8, 30});
                if (step > 0 && comm.rank() < first_with_numbers)
                    for (auto& g : x) std::ranges::fill(g, 0.0f);
                whole_step(reduce, x);
                if (comm.rank() == 0) all.insert(all.end(), x.begin(), x.end());
            }
        });
        return all;
    };
    CHECK(run(true, 3) == run(false, 3));
    CHECK(run(true, 4) != run(false, 4));
}

TEST_CASE("with on_missing_layer::zero a layer that no rank starts is skipped, and its vectors become zeros") {
    on_ranks_and_nodes([](auto& over, auto& comm) {
        reducer reduce(error_feedback{top_k{2}}, over, layers,
                       {.missing_layer = on_missing_layer::zero, .skip_zero_layers = true});
        auto x = gradients(comm.rank(), 0, {24, 40, 8, 30});
        for (std::size_t l = 0; l < x.size(); ++l) reduce.bind(l, x[l]);
        whole_step(reduce, x);
        auto const before = states_of(reduce);
        for (auto& g : x) std::ranges::fill(g, 5.0f);
        if (comm.rank() == 1) std::ranges::fill(x[1], 1.0f), reduce.start(1, x[1]);
        reduce.finish();
        for (std::size_t l = 0; l < x.size(); ++l) {
            CHECK((x[l] == std::vector<float>(x[l].size())) == (l != 1));
            CHECK((states_of(reduce)[l] == before[l]) == (l != 1 || layers[l].name == "full"));
        }
    });
}

TEST_CASE("numbers of weight 0 count as zeros") {
    on_ranks_and_nodes([](auto& over, auto& comm) {
        reducer reduce(error_feedback{top_k{2}}, over, layers, {.skip_zero_layers = true, .steps_vary = true});
        auto x = gradients(comm.rank(), 0, {24, 40, 8, 30});
        whole_step(reduce, x);
        auto const before = states_of(reduce);
        x = gradients(comm.rank(), 1, {24, 40, 8, 30});
        if (comm.rank() == 0) std::ranges::fill(x[0], 0.0f);
        whole_step(reduce, x, {.weight = comm.rank() == 0 ? 1.0 : 0.0});
        CHECK(x[0] == std::vector<float>(24));
        CHECK(states_of(reduce)[0] == before[0]);
        CHECK(states_of(reduce)[1] != before[1]);
    });
}

TEST_CASE("ranks agree on whether layers of zeros are skipped, and a collective cannot skip them") {
    CHECK(error_of_all(2, [](auto& comm) {
              reducer reduce(plain{}, comm, 4, {.skip_zero_layers = comm.rank() == 0});
          }).find("layers of zeros") != std::string::npos);
    auto const why =
        "layer b: skip_zero_layers goes with messages that are gathered on the host, not with a collective";
    auto const refused = [&](auto how) {
        CHECK(error_of_all(2, [&](auto& comm) {
                  reducer reduce(how, comm, {{"a", 8}, {"b", 40}}, {.skip_zero_layers = true, .dense_below = 9});
              }) == why);
    };
    refused(plain{identity{}, ring{}});
    refused(parse_reduction<float>("error_feedback(top_k(2), over=gtop_k(2))"));
}

TEST_CASE("a layer with a number that is not finite is no layer of zeros") {
    fibers::run(2, [](fibers::member& comm) {
        reducer reduce(error_feedback{top_k{1}}, comm, 4, {.skip_zero_layers = true});
        std::vector<float> x(4);
        if (comm.rank() == 1) x[2] = std::numeric_limits<float>::quiet_NaN();
        CHECK_THROWS_AS(reduce(x), non_finite_error);
    });
}
