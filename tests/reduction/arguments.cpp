// SPDX-License-Identifier: Apache-2.0
// What a reducer can be made of, and what its steps take; what the compiler says of the rest is in
// tests/must_not_compile/reducer.cpp.
#include "laconic/reduction/arguments.hpp"

#include "support/everything.hpp"

static_assert(detail::ReducedAs<float, float> && detail::ReducedAs<double, double> &&
              detail::ReducedAs<Eigen::half, float> && detail::ReducedAs<Eigen::bfloat16, float>);
static_assert(!detail::ReducedAs<double, float> && !detail::ReducedAs<float, double> &&
              !detail::ReducedAs<Eigen::half, double> && !detail::ReducedAs<std::int16_t, float> &&
              !detail::ReducedAs<float const, float>);
static_assert(detail::takes<float, std::vector<float>&>() && detail::takes<double, std::array<double, 3>&>());
static_assert(detail::takes<float, std::span<float>>() && detail::takes<float, std::vector<Eigen::half>&>());
static_assert(detail::takes<float, Eigen::Map<Eigen::VectorXf>>() && detail::takes<float, Eigen::MatrixXf&>());
static_assert(detail::is_like<double, std::vector<double>>() && detail::is_like<float, std::array<float, 3>>());

struct list_of_layers : std::vector<layer> {};
using nodes = hierarchy<threads::member, threads::member>;

static_assert(detail::can_reduce<error_feedback<top_k<>>, threads::member, float, host>());
static_assert(detail::can_reduce<unproved<plain<top_k<>>>, threads::member, double, host>());
static_assert(detail::holds_communicators<nodes> && !detail::holds_communicators<threads::member>);
TEST_CASE("a reducer is made of a list that is no vector of layers but becomes one, with ranks and over nodes") {
    threads::run(1, [](threads::member& comm) {
        list_of_layers all;
        all.push_back({"w", 3}), all.push_back({"b", 2});
        auto inside = comm.split(0, 0), across = comm.split(0, 0);
        reducer flat(error_feedback{top_k{1}}, comm, all);
        reducer over_nodes(error_feedback{top_k{1}}, hierarchy{inside, across}, all);
        CHECK(flat.layers().size() == 2);
        CHECK(over_nodes.layers().size() == 2);
        CHECK(over_nodes.layers()[1].size() == 2);
    });
}
