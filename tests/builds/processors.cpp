// SPDX-License-Identifier: Apache-2.0
// The header finds Zen 4 and its page fetches exactly where EXPECTED has them; compiled for each processor, not run.
#include "laconic/backend/host/impl/caches.hpp"

static_assert(laconic::instruction_set::is_zen4 == EXPECTED && laconic::detail::fetches_pages == EXPECTED);
