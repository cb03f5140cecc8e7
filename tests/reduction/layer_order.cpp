// SPDX-License-Identifier: Apache-2.0
// Layers are due in the order of the first step, those that it lacks last, and a later step shows early ones.
#include "laconic/reduction/layer_order.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

using laconic::detail::layer_order;

TEST_CASE("the order is the first step's, and layers that it lacks come last") {
    layer_order order(4);
    CHECK_FALSE(order.is_known());
    CHECK(order.start(2));
    CHECK(order.start(0));
    CHECK_FALSE(order.start(2));
    CHECK(order.first() == std::vector<std::size_t>{2, 0});
    CHECK(order.is_started(0));
    CHECK_FALSE(order.is_started(1));
    order.learn();
    CHECK(order.is_known());
    std::vector<std::size_t> sent;
    CHECK(order.is_new());
    for (; !order.is_over(); order.advance()) sent.push_back(order.due());
    CHECK(sent == std::vector<std::size_t>{2, 0, 1, 3});
    CHECK_FALSE(order.is_new());
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
