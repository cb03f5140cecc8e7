// SPDX-License-Identifier: Apache-2.0
// What a step of a reducer takes; what the compiler says of the rest is in tests/must_not_compile/reducer.cpp.
#include "laconic/reduction/accepted.hpp"

#include "support/everything.hpp"

using namespace laconic;

static_assert(detail::ReducedAs<float, float> && detail::ReducedAs<double, double> &&
              detail::ReducedAs<Eigen::half, float>);
static_assert(!detail::ReducedAs<double, float> && !detail::ReducedAs<float, double> &&
              !detail::ReducedAs<Eigen::half, double>);
static_assert(detail::takes<float, std::vector<float>&>() && detail::takes<double, std::array<double, 3>&>());
static_assert(detail::takes<float, std::span<float>>() && detail::takes<float, std::vector<Eigen::half>&>());
static_assert(detail::takes<float, Eigen::Map<Eigen::VectorXf>>() && detail::takes<float, Eigen::MatrixXf&>());
static_assert(detail::is_like<double, std::vector<double>>() && detail::is_like<float, std::array<float, 3>>());
