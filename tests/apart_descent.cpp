// SPDX-License-Identifier: Apache-2.0
//
// Whole runs where the host cannot touch what lives on the backend.
#include <doctest/doctest.h>

#include "backend/apart.hpp"
#include "laws/descent_on.hpp"

TEST_CASE("a run on a backend whose memory the host cannot touch") { laws::runs_as_on_the_host<laconic_test::apart>(); }
