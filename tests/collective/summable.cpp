// SPDX-License-Identifier: Apache-2.0
// Which vectors sum() takes; what the compiler says of the rest is in tests/must_not_compile/sum.cpp.
#include "laconic/collective/summable.hpp"

#include "support/everything.hpp"

using namespace laconic;
using detail::can_be_summed, detail::is_sparse, detail::number_of;

static_assert(can_be_summed<std::vector<float>&>() && can_be_summed<std::array<std::int32_t, 3>&>());
static_assert(can_be_summed<std::span<double>>() && can_be_summed<std::vector<Eigen::half>&>());
static_assert(can_be_summed<Eigen::Map<Eigen::VectorXf>>() && can_be_summed<Eigen::MatrixXf&>());
static_assert(can_be_summed<sparse_vector<float>>() && can_be_summed<sparse_vector<std::int64_t> const&>());
static_assert(can_be_summed<sparse_view<double, std::int64_t>>());
static_assert(is_sparse<sparse_view<double, int> const&> && !is_sparse<std::vector<double>&>);
static_assert(std::same_as<number_of<Eigen::VectorXf const&>, float>);
static_assert(std::same_as<number_of<sparse_view<double, int>>, double>);
