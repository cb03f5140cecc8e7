// SPDX-License-Identifier: Apache-2.0
#include "laconic/core/size.hpp"

#include "support/everything.hpp"

static_assert(std::same_as<decltype(detail::as_size(std::uint64_t{3})), std::size_t>);
static_assert(detail::as_size(3) == 3 && detail::as_size(std::uint64_t{1} << 31) == std::size_t{1} << 31);
static_assert(detail::pieces_in(7u, 3) == 3 && detail::pieces_in(6u, 3) == 2 && detail::pieces_in(7u, 7) == 1);
static_assert(detail::pieces_in(std::uint64_t{7}, ~std::uint64_t{0}) == 1 && detail::pieces_in(0u, 3) == 0);
