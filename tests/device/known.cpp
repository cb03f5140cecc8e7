// SPDX-License-Identifier: Apache-2.0
// Methods on the device come to known answers, as on the host and the reference.
#include "laconic/backend/device.hpp"
#include "support/laws/known_runs.hpp"

TEST_CASE("methods on the device come to known answers") { laws::known_answers<laconic::device>(); }
