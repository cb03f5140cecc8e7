// SPDX-License-Identifier: Apache-2.0
// Training on one rank is the steps along the mini-batches that the key draws.
#include "laconic/estimate/train.hpp"

#include "support/everything.hpp"
#include "support/samples.hpp"

using namespace laconic;

TEST_CASE("train: each step is one of a mini-batch, drawn by a child of the key") {
    auto const f = samples::logistic_of(20, 3, 1);
    auto x = samples::point(3, 1), y = x;
    train(f, momentum<>(0.3, 0.5), std::span<double>(x), key{4}, 5, 6);
    host on;
    momentum<> step(0.3, 0.5);
    std::vector<double> g(3);
    for (std::uint64_t i = 0; i < 5; ++i) {
        std::vector<std::uint32_t> rows;
        for (std::uint64_t t = 0; t < 6; ++t) rows.push_back(std::uint32_t(key{4}.child(i).below(t, 20)));
        f.batch_gradient(rows, y, g);
        step(on, std::span<double>(y), std::span<double>(g));
    }
    CHECK(x == y);
    train(f, gradient_step{0.3}, std::span<double>(x), key{4}, 0, 6);
    CHECK(x == y);
}

TEST_CASE("train: it lowers the function") {
    auto const f = samples::logistic_of(50, 4, 2);
    auto x = samples::point(4, 3);
    double const before = f.value(x);
    train(f, gradient_step{0.2}, std::span<double>(x), key{1}, 300, 8);
    CHECK(f.value(x) < before - 0.1);
}
