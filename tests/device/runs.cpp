// SPDX-License-Identifier: Apache-2.0
// Whole runs on the device have the host's iterates, errors and saved states.
#include "laconic/backend/device.hpp"
#include "support/laws/descent_on.hpp"

TEST_CASE("a run on the device") { laws::runs_as_on_the_host<laconic::device>(); }
