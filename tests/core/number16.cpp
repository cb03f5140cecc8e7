// SPDX-License-Identifier: Apache-2.0
// Which types are numbers of 16 bits.
#include "laconic/core/number16.hpp"

#include "support/everything.hpp"

static_assert(laconic::detail::Number16<Eigen::half> && laconic::detail::Number16<Eigen::bfloat16>);
static_assert(!laconic::detail::Number16<std::int16_t> && !laconic::detail::Number16<std::uint16_t> &&
              !laconic::detail::Number16<float>);
