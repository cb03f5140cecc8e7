// SPDX-License-Identifier: Apache-2.0
// The ranks of a node add up their shares by weight and gather them, and errors reach the whole node.
#include "laconic/reduction/node_sum.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"

// A rank of one node: all have the same number of a node.
struct one_node : detail::node_sum<fibers::member, fibers::member, double> {
    one_node(fibers::member& comm, fibers::member alone, std::vector<layer> const& layers,
             reducer_options const& options)
        : node_sum(comm, alone, layers, options) {}
    using node_sum::at, node_sum::sum, node_sum::compare, node_sum::gather, node_sum::end_step;
    using node_sum::own_error_, node_sum::weight_, node_sum::now_;

    // Starts layer l, and compares the step.
    void starts(std::size_t l, std::vector<double>& x, step_options const& options = {}) {
        at(l).x.start(detail::caller_vector(std::span(x)));
        at(l).given = now_.given = options;
        agree(0);
    }
};

TEST_CASE("each rank of a node adds up its share, and all gather what becomes of them") {
    fibers::run(3, [](fibers::member& comm) {
        one_node node(comm, comm.split(comm.rank(), 0), {{"a", 7}, {"b", 2}},
                      {.missing_layer = on_missing_layer::skip, .dense_below = 5});
        CHECK(node.shares()[0].size == (comm.rank() == 0 ? 2u : comm.rank() == 1 ? 2u : 3u));
        CHECK(node.shares()[1].size == 1);
        CHECK(!node.shares()[0].in_full);
        CHECK(node.shares()[1].in_full);
        std::vector<double> a(7);
        for (std::size_t i = 0; i < 7; ++i) a[i] = 3.0 * double(i) * (comm.rank() + 1);
        node.starts(0, a, {.loss_scale = 2});
        CHECK(node.at(0).present);
        CHECK_FALSE(node.at(1).present);
        CHECK_FALSE(node.own_error_);
        auto const share = node.sum(node.at(0));
        std::size_t const first = comm.rank() == 0 ? 0 : comm.rank() == 1 ? 2 : 4;
        for (std::size_t i = 0; i < share.size(); ++i) {
            CHECK(share[i] == 3.0 * double(first + i));  // (1 + 2 + 3) / 3 / 2 of 3 i
            share[i] += 1;
        }
        CHECK_FALSE(node.compare(nullptr));
        node.gather();
        for (std::size_t i = 0; i < 7; ++i) CHECK(a[i] == 2 * (3.0 * double(i) + 1));
    });
}

TEST_CASE("one rank's mistake, and one share's failure, are known to all of the node") {
    fibers::run(2, [](fibers::member& comm) {
        one_node node(comm, comm.split(comm.rank(), 0), {{"", 4}}, {});
        std::vector<double> x(comm.rank() == 1 ? 3 : 4, 1);
        node.starts(0, x);
        CHECK(node.own_error_.why.ends_with("a vector of 3 numbers, where the reducer has 4"));
        node.end_step();
        CHECK_FALSE(node.own_error_);
        auto const failed = comm.rank() == 1 ? std::make_exception_ptr(non_finite_error(0, 0, 1)) : nullptr;
        auto const wrong = node.compare(failed);
        REQUIRE(wrong);
        CHECK_THROWS_WITH_AS(wrong.raise(), "rank 1, round 0: the gradient is not finite at coordinate 3",
                             non_finite_error);
    });
}

TEST_CASE("a rank counts by its weight beside the others of its node") {
    fibers::run(3, [](fibers::member& comm) {
        one_node node(comm, comm.split(comm.rank(), 0), {{"", 3}}, {.steps_vary = true});
        std::vector<double> x(3, double(1 << comm.rank()));
        node.starts(0, x, {.weight = comm.rank() == 2 ? 0 : 1.5 * (comm.rank() + 1)});
        CHECK_FALSE(node.own_error_);
        CHECK(node.weight_ == 4.5);
        CHECK(node.sum(node.at(0))[0] == doctest::Approx((1.5 * 1 + 3 * 2) / 4.5).epsilon(1e-15));
    });
}
