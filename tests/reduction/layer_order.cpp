// SPDX-License-Identifier: Apache-2.0
// Layers are due in the order of the first step that has all; before, in that of their list.
#include "laconic/reduction/layer_order.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"

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
    order.learn();
    CHECK(order.is_learned());
    for (int steps = 0; steps < 2; ++steps) CHECK(sent() == std::vector<std::size_t>{2, 0, 3, 1});
    CHECK_FALSE(order.fresh().is_known());
    CHECK(layer_order(3, true).fresh().all() == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("ranks learn the order where all have started all layers, and two that differ in it are named to all") {
    using orders = std::vector<std::vector<std::size_t>>;
    auto const outcome = [](orders const& of_rank) {
        std::vector<std::string> all(of_rank.size());
        laconic::fibers::run(int(of_rank.size()), [&](laconic::fibers::member& comm) {
            auto const me = std::size_t(comm.rank());
            layer_order order(2);
            for (auto const l : of_rank[me]) order.start(l);
            try {
                laconic::detail::learn_if_complete(comm, order, {{"the steps so far", 7}});
                all[me] = (order.is_learned() ? "learned " : "listed ") + std::to_string(order.due());
            } catch (laconic::agreement_error const& e) {
                all[me] = e.what();
            }
        });
        for (auto const& text : all) CHECK(text == all[0]);
        return all[0];
    };
    CHECK(outcome({{1, 0}, {1, 0}, {1, 0}}) == "learned 1");
    CHECK(outcome({{1, 0}, {1}, {1, 0}}) == "listed 0");
    CHECK(outcome({{}, {}, {}}) == "listed 0");
    CHECK(outcome({{}, {1, 0}, {0, 1}}) == "ranks disagree: ranks 1 and 2 start the layers in different orders");
}

TEST_CASE("in a later step a layer that is not due is early, and the next step begins anew") {
    layer_order order(3);
    for (std::size_t const l : {1u, 0u, 2u}) order.start(l);
    order.learn();
    order.end_step();
    CHECK(order.is_known());
    CHECK_FALSE(order.is_started(1));
    CHECK(order.due() == 1);
    CHECK(order.is_later(2));
    CHECK(order.is_later(1));  // due itself
    order.start(1);
    order.advance();
    CHECK_FALSE(order.is_later(1));
    CHECK(order.due() == 0);
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
