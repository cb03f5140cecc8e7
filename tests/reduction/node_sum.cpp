// SPDX-License-Identifier: Apache-2.0
// The ranks of a node add up their shares by weight and gather them, and errors reach the whole node.
#include "laconic/reduction/node_sum.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"

using namespace laconic;

TEST_CASE("each rank of a node adds up its share, and all gather what becomes of them") {
    fibers::run(3, [](fibers::member& comm) {
        auto alone = comm.split(comm.rank(), 0);
        // Over one node all ranks have the same number of a node.
        detail::node_sum<fibers::member, fibers::member, double> node(comm, alone, {{"a", 7}, {"b", 2}},
                                                                      {.dense_below = 5});
        CHECK(node.shares()[0].size == (comm.rank() == 0 ? 2u : comm.rank() == 1 ? 2u : 3u));
        CHECK(node.shares()[1].size == 1);
        CHECK(!node.shares()[0].in_full);
        CHECK(node.shares()[1].in_full);
        std::vector<double> a(7);
        for (std::size_t i = 0; i < 7; ++i) a[i] = 3.0 * double(i) * (comm.rank() + 1);
        std::vector<detail::layer_vector> held(2);
        held[0].start(detail::caller_vector(std::span(a)));
        std::vector<step_options> given(2);
        given[0].loss_scale = 2;
        auto const present = node.agree(held, given, {}, absent::skip, 0);
        CHECK(present == std::vector<char>{1, 0});
        CHECK_FALSE(node.refusal());
        auto const share = node.sum(0, held[0], 2);
        std::size_t const first = comm.rank() == 0 ? 0 : comm.rank() == 1 ? 2 : 4;
        for (std::size_t i = 0; i < share.size(); ++i) {
            CHECK(share[i] == 3.0 * double(first + i));  // (1 + 2 + 3) / 3 / 2 of 3 i
            share[i] += 1;
        }
        CHECK_FALSE(node.compare(nullptr));
        node.gather(held, given);
        for (std::size_t i = 0; i < 7; ++i) CHECK(a[i] == 2 * (3.0 * double(i) + 1));
    });
}

TEST_CASE("one rank's mistake, and one share's failure, are known to all of the node") {
    fibers::run(2, [](fibers::member& comm) {
        auto alone = comm.split(comm.rank(), 0);
        detail::node_sum<fibers::member, fibers::member, double> node(comm, alone, {{"", 4}}, {});
        std::vector<double> x(4, 1);
        if (comm.rank() == 1) x.pop_back();
        std::vector<detail::layer_vector> held(1);
        held[0].start(detail::caller_vector(std::span(x)));
        node.agree(held, std::vector<step_options>(1), {}, absent::raise, 0);
        CHECK(node.refusal());
        CHECK(node.refusal().why.ends_with("a vector of 3 numbers, where the reducer has 4"));
        node.end_step();
        CHECK_FALSE(node.refusal());
        auto const failed = comm.rank() == 1 ? std::make_exception_ptr(non_finite_error(0, 0, 1)) : nullptr;
        auto const wrong = node.compare(failed);
        REQUIRE(wrong);
        CHECK_THROWS_WITH_AS(wrong.raise(), "rank 1, round 0: the gradient is not finite at coordinate 3",
                             non_finite_error);
    });
}

TEST_CASE("a rank counts by its weight beside the others of its node") {
    fibers::run(3, [](fibers::member& comm) {
        auto alone = comm.split(comm.rank(), 0);
        detail::node_sum<fibers::member, fibers::member, double> node(comm, alone, {{"", 3}}, {.steps_vary = true});
        std::vector<double> x(3, double(1 << comm.rank()));
        std::vector<detail::layer_vector> held(1);
        held[0].start(detail::caller_vector(std::span(x)));
        step_options const now{.weight = comm.rank() == 2 ? 0 : 1.5 * (comm.rank() + 1)};
        node.agree(held, {now}, now, absent::raise, 0);
        CHECK_FALSE(node.refusal());
        CHECK(node.weight() == 4.5);
        CHECK(node.sum(0, held[0], 1)[0] == doctest::Approx((1.5 * 1 + 3 * 2) / 4.5).epsilon(1e-15));
    });
}
