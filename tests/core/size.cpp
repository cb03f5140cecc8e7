// SPDX-License-Identifier: Apache-2.0
#include "laconic/core/size.hpp"

#include "support/everything.hpp"

using namespace laconic;

static_assert(std::same_as<decltype(detail::as_size(std::uint64_t{3})), std::size_t>);
static_assert(detail::as_size(3) == 3 && detail::as_size(std::uint64_t{1} << 31) == std::size_t{1} << 31);
