// SPDX-License-Identifier: Apache-2.0
// Words of every width, count and range are packed as by the definition.
#include "laconic/backend/host/pack.hpp"

#include "support/everything.hpp"
#include "support/laws/kernels.hpp"

TEST_CASE("words are the definition's") { kernel_laws::words<host>(); }
