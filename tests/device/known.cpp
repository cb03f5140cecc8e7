// SPDX-License-Identifier: Apache-2.0
// Methods on the device come to known answers, as on the host and the reference.
#include "laconic/backend/device.hpp"
#include "support/laws/known_rounds.hpp"
#include "support/laws/known_runs.hpp"

TEST_CASE("methods on the device come to known answers") { laws::known_descents<laconic::device>(); }
TEST_CASE("methods on the device whose draws are given come to known answers") {
    laws::known_by_hand<laconic::device>();
}
TEST_CASE("rounds of local steps on the device come to known answers") {
    laws::known_rounds<laconic::device>();
    laws::known_rounds_of_optimizers<laconic::device>();
}
