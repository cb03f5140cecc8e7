// SPDX-License-Identifier: Apache-2.0
// Whole runs on the device have the host's iterates, errors and saved states, and steps come to known answers.
#include "laconic/backend/device.hpp"
#include "support/laws/descent_on.hpp"
#include "support/laws/known_steps.hpp"

TEST_CASE("a run on the device") { laws::runs_as_on_the_host<laconic::device>(); }
TEST_CASE("steps on the device come to known answers") {
    laws::known_momentum<laconic::device>();
    laws::known_adam_and_lion<laconic::device>();
    laws::known_matrix_steps<laconic::device>();
}
