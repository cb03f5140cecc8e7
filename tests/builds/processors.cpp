// SPDX-License-Identifier: Apache-2.0
// Compiled with the flags for one processor after another, and not run: what EXPECTED says of them is what the header
// finds.
#include "laconic/backend/host/impl/fetch.hpp"

static_assert(laconic::instruction_set::is_zen4 == EXPECTED && laconic::detail::fetches_pages == EXPECTED);
