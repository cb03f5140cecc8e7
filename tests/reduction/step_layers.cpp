// SPDX-License-Identifier: Apache-2.0
// Layers have an identity by name. They are due in the order of rank 0's first step in which all ranks have all;
// before, in that of their list.
#include "laconic/reduction/step_layers.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"
#include "support/passed_on.hpp"
#include "support/states.hpp"

using top_k_with_errors = error_feedback<top_k<>>;
using layers = detail::reduction_step<top_k_with_errors, fibers::member>;

// The same reduction for all layers.
auto always(auto r) {
    return [r](layer const&) { return r; };
}
auto const by_top_1 = always(top_k_with_errors{top_k{1}});

TEST_CASE("the identity of a state has the layers by name, what ranks agree on has them as they are listed") {
    layers const one({}, by_top_1, {{"b", 3}, {"a", 2}}, {}), other({}, by_top_1, {{"a", 2}, {"b", 3}}, {});
    CHECK(one.identity(0, 2, 5) == other.identity(0, 2, 5));
    CHECK(one.items().lines() != other.items().lines());
    CHECK(one.items().lines().find("\nthe number of layers: 2\nlayer b: 3 numbers") != std::string::npos);
    CHECK(one.identity(0, 2, 5) != one.identity(1, 2, 5));
    CHECK(one.identity(0, 2, 5) != one.identity(0, 3, 5));
    CHECK(one.identity(0, 2, 5).find("layer a: 2 numbers, error_feedback(top_k(1))\nlayer b: 3 numbers") !=
          std::string::npos);
    CHECK(one.identity(0, 2, 5).starts_with("the seed: 5\n"));
    CHECK(one.items().lines().find("seed") == std::string::npos);
    layers share({}, by_top_1, {{"b", 3}, {"a", 2}}, {});
    share.draw_as(detail::shared_seed(5), 1);
    CHECK(share.identity(0, 2, 5) != one.identity(0, 2, 5));
    layers const in_full({}, by_top_1, {{"b", 3}, {"a", 2}}, {.in_full = {"a"}});
    CHECK(in_full.identity(0, 2, 5).find("layer a: 2 numbers, in full\n") != std::string::npos);
}

TEST_CASE("what does not suit a layer is refused") {
    CHECK_THROWS_WITH_AS(layers({}, by_top_1, {}, {}), "a reducer of no layers", argument_error);
    CHECK_THROWS_WITH_AS(layers({}, by_top_1, {{"a", 2}, {"b", 2}, {"a", 2}}, {}), "two layers are named \"a\"",
                         argument_error);
    CHECK_THROWS_WITH_AS(layers({}, always(top_k_with_errors{top_k{3}}), {{"a", 3}, {"b", 2}}, {}),
                         doctest::Contains("layer b: top_k(3): k = 3 is above the dimension d = 2"), argument_error);
    CHECK_THROWS_WITH_AS(layers({}, always(top_k_with_errors{top_k{3}}), {{"", 2}}, {}),
                         "top_k(3): k = 3 is above the dimension d = 2; a fraction, such as 0.1, suits every length",
                         argument_error);
    layers({}, always(top_k_with_errors{top_k{3}}), {{"a", 3}, {"b", 2}}, {.dense_below = 3});  // sent in full
    using around = detail::reduction_step<plain<identity, ring>, fibers::member>;
    CHECK_THROWS_AS(around({}, always(plain<identity, ring>{}), {{"a", 3}}, {.missing_layer = on_missing_layer::skip}),
                    argument_error);
}

TEST_CASE("a layer of more numbers than a coordinate counts is refused before there is memory for it") {
    auto const many = std::size_t{1} << 32;
    CHECK_THROWS_WITH_AS(layers({}, by_top_1, {{"a", 2}, {"b", many}}, {}), doctest::Contains("layer b: "),
                         argument_error);
    auto const most = std::numeric_limits<std::size_t>::max();
    CHECK_THROWS_AS(layers({}, by_top_1, {{"", most}}, {}), argument_error);
}

TEST_CASE("no state, forged with its checksum, makes a vector longer than its layer") {
    using shifts = detail::reduction_step<ef21_shift<top_k<>>, fibers::member>;
    auto const shift = always(ef21_shift{top_k{1}});
    shifts longer({}, shift, {{"a", 2}, {"b", 4}}, {}), restored({}, shift, {{"a", 2}, {"b", 3}}, {});
    struct all_of {  // layers stay where they are, and this may be copied
        shifts* layers;
        void state(wire::state_writer& archive) { layers->state(archive); }
    };
    CHECK_THROWS_AS(restore(restored, ::saved(all_of{&longer})), wire_error);
    restore(restored, ::saved(all_of{&restored}));
    // The mean shift is empty before the first step, and as long as the layer after it.
    struct forged {
        std::size_t long_one;
        void state(wire::state_writer& archive) const {
            std::uint64_t steps = 0, count = 2;
            archive(steps, count);
            for (std::size_t const d : {2u, 3u}) {
                std::string name = "a";
                bool in_full = false;
                double step_size = 0;
                std::vector<float> h(d), mean_h(d == 3 ? long_one : d), e, u;
                archive.of_any_length(name);
                archive(in_full, step_size, h);
                archive.vectors(mean_h);
                archive(e, u);
            }
        }
    };
    restore(restored, ::saved(forged{3}));
    restore(restored, ::saved(forged{0}));
    for (std::size_t const d : {2u, 4u}) CHECK_THROWS_AS(restore(restored, ::saved(forged{d})), wire_error);
}

using laconic::detail::layer_order;

TEST_CASE("a step that lacks layers has the order of the list, and the first that has all gives the order") {
    layer_order order(4);
    auto const sent = [&] {
        std::vector<std::size_t> all;
        for (; !order.is_over(); order.advance()) all.push_back(order.due());
        order.end_step();
        return all;
    };
    CHECK_FALSE(order.is_known());
    CHECK(order.start(2));
    CHECK(order.start(0));
    CHECK_FALSE(order.start(2));
    CHECK(order.first() == std::vector<std::size_t>{2, 0});
    CHECK(order.is_started(0));
    CHECK_FALSE(order.is_started(1));
    CHECK_FALSE(order.has_all());
    order.list_once();
    CHECK(order.is_known());
    CHECK_FALSE(order.is_learned());
    CHECK(sent() == std::vector<std::size_t>{0, 1, 2, 3});
    CHECK_FALSE(order.is_known());
    for (std::size_t const l : {2u, 0u, 3u, 1u}) order.start(l);
    CHECK(order.has_all());
    CHECK_FALSE(order.is_next_started());  // none is next
    for (auto const& wrong : {std::vector<std::size_t>{2, 0, 3}, {2, 0, 3, 2}, {2, 0, 3, 4}})
        CHECK_FALSE(order.learn(wrong));
    CHECK_FALSE(order.is_known());
    CHECK(order.learn(order.first()));
    CHECK(order.is_learned());
    for (int steps = 0; steps < 2; ++steps) CHECK(sent() == std::vector<std::size_t>{2, 0, 3, 1});
    CHECK_FALSE(order.fresh().is_known());
    CHECK(layer_order(3, true).fresh().all() == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("ranks learn rank 0's order where all have started all layers, and what is wrong on one is thrown on all") {
    using orders = std::vector<std::vector<std::size_t>>;
    auto const outcome = [](orders const& of_rank, int failed = -1, int other = -1) {
        std::vector<std::string> all(of_rank.size());
        laconic::fibers::run(int(of_rank.size()), [&](laconic::fibers::member& comm) {
            auto const me = std::size_t(comm.rank());
            layer_order order(3);
            for (auto const l : of_rank[me]) order.start(l);
            try {
                detail::failure own;
                if (comm.rank() == failed) own = detail::failure::no_message("no step").by(failed, 7);
                detail::learn_order(comm, order, {{"the steps so far", comm.rank() == other ? 8 : 7}}, own);
                all[me] = order.is_learned() ? "learned " : "listed ";
                for (auto const l : order.all()) all[me] += std::to_string(l);
            } catch (laconic::error const& e) {
                all[me] = e.what();
            }
        });
        for (auto const& text : all) CHECK(text == all[0]);
        return all[0];
    };
    CHECK(outcome({{1, 0, 2}, {1, 0, 2}, {1, 0, 2}}) == "learned 102");
    CHECK(outcome({{1, 0, 2}, {0, 1, 2}, {2, 1, 0}}) == "learned 102");
    CHECK(outcome({{1, 0, 2}, {1}, {1, 0, 2}}) == "listed 012");
    CHECK(outcome({{}, {}, {}}) == "listed 012");
    CHECK(outcome({{}, {1, 0, 2}, {0, 1, 2}}) == "listed 012");
    CHECK(outcome({{1, 0, 2}, {0, 1, 2}}, 1) == "rank 1, round 7: no step");
    CHECK(outcome({{1, 0, 2}, {0, 1, 2}}, -1, 1) ==
          "ranks disagree: rank 0 has \"the steps so far: 7\", rank 1 has \"the steps so far: 8\"");
}

TEST_CASE("an order from rank 0 that is none is an error on all ranks") {
    struct forged : passed_on<fibers::member> {
        int gathers = 0;
        std::vector<std::size_t> sent;
        void all_gather(payload mine) {
            ++gathers;
            inner->all_gather(gathers == 2 && rank() == 0 ? payload{std::as_bytes(std::span(sent))} : mine);
        }
    };
    for (auto const& sent : {std::vector<std::size_t>{1, 1}, {0, 2}, {0}})
        laconic::fibers::run(2, [&](laconic::fibers::member& inner) {
            forged comm{{&inner}, 0, sent};
            layer_order order(2);
            for (std::size_t const l : {0u, 1u}) order.start(inner.rank() == 0 ? l : 1 - l);
            CHECK_THROWS_AS(detail::learn_order(comm, order, {}, {}), comm_error);
            CHECK_FALSE(order.is_known());
        });
}

TEST_CASE("in a later step a layer that is started early waits for those before it, and the next step begins anew") {
    layer_order order(3);
    CHECK(order.learn({1, 0, 2}));
    CHECK(order.is_known());
    CHECK_FALSE(order.is_started(1));
    CHECK(order.is_due(1));
    CHECK(order.start(0));
    CHECK_FALSE(order.is_due(0));
    CHECK_FALSE(order.is_next_started());
    CHECK(order.start(1));
    for (std::size_t const l : {1u, 0u}) {
        CHECK(order.due() == l);
        CHECK(order.is_next_started());
        order.advance();
    }
    CHECK_FALSE(order.is_next_started());
    CHECK(order.first().empty());
    order.end_step();
    CHECK(order.due() == 1);
    CHECK(order.start(1));
}

TEST_CASE("one layer has one order") {
    layer_order order(1);
    CHECK(order.is_known());
    CHECK(order.due() == 0);
}
