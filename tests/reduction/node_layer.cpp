// SPDX-License-Identifier: Apache-2.0
// A layer over nodes says what is wrong with its vector, and whether it has a number that is not 0.
#include "laconic/reduction/node_layer.hpp"

#include <Eigen/Core>

#include "support/error_of.hpp"
#include "support/everything.hpp"

TEST_CASE("a layer over nodes knows whether its vector has a number that is not 0") {
    host on;
    detail::node_layer<float> l{{"w", 3}, {}};
    std::vector<float> room(5), x(3), longer(4, 1.0f);
    std::vector<Eigen::half> half(3);
    auto const has = [&](auto& vector) {
        l.x.end_step();
        l.x.start(detail::caller_vector(std::span(vector)));
        return l.has_own(on, room);
    };
    CHECK(!l.has_own(on, room));  // not started
    CHECK(!has(x));
    CHECK(!has(half));
    x[2] = 1e-40f, half[2] = Eigen::half(1);
    CHECK(has(x));
    CHECK(has(half));
    CHECK(!has(longer));  // which is an error
    CHECK(error_of([&] { l.check(); }) == "a vector of 4 numbers, where the reducer has 3");
    has(x), l.check();
    l.given.loss_scale = -1;
    CHECK(error_of([&] { l.check(); }).find("loss scale") != std::string::npos);
}
