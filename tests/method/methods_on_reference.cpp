// SPDX-License-Identifier: Apache-2.0
// Methods come to known answers on the backend that defines what kernels compute; tests/device has them on a device.
#include "laconic/backend/reference.hpp"
#include "support/laws/known_runs.hpp"

TEST_CASE("methods on the reference come to known answers") { laws::known_answers<laconic::reference>(); }
