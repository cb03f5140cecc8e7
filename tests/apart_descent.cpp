// SPDX-License-Identifier: Apache-2.0
// Whole runs on `apart`, whose memory the host cannot touch, have the host's iterates and states, bit for bit.
#include "support/apart.hpp"
#include "support/everything.hpp"
#include "support/laws/descent_on.hpp"

TEST_CASE("a run on a backend whose memory the host cannot touch") { laws::runs_as_on_the_host<laconic_test::apart>(); }
