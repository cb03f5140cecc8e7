// SPDX-License-Identifier: Apache-2.0
// A step of layers writes nothing before finish, and its messages go in the order of the first step.
#include "laconic/reduction/step.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "laconic/comm/fibers.hpp"
#include "laconic/compress/top_k.hpp"

using namespace laconic;

TEST_CASE("a step: nothing is written before finish, and messages of later steps go as layers are started") {
    using with_errors = error_feedback<top_k<>>;
    fibers::run(2, [](fibers::member& comm) {
        reducer_options const options{.share_below = 0};
        detail::reduction_step<with_errors, fibers::member, float, host> step(
            comm, options, host{}, {[](layer const&) { return with_errors{top_k{1}}; }, layers_of({3, 3}), options});
        std::vector<float> a, b;
        auto const start = [&](std::size_t l, std::vector<float>& x) {
            step.start(l, detail::caller_vector<float>(std::span(x)), {});
        };
        for (int k = 0; k < 2; ++k) {
            a = {1, 5, 2}, b = {4, 3, 0};
            start(1, b);
            start(0, a);
            CHECK(a == std::vector<float>{1, 5, 2});
            CHECK(step.round() == std::uint64_t(k));
            step.finish();
            CHECK(step.round() == std::uint64_t(k + 1));
        }
        CHECK(a == std::vector<float>{0, 5, 0});
        CHECK(b == std::vector<float>{0, 6, 0});  // 3 waited
        CHECK(step.statistics().steps == 2);
    });
}
