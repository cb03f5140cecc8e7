// SPDX-License-Identifier: Apache-2.0
//
// The device's kernels add, split, filter and sort lists of terms as the reference does, where a host cannot reach.
#include "laconic/backend/device/lists.hpp"

#include "laconic/backend/device.hpp"
#include "support/laws/kernels.hpp"

TEST_CASE_TEMPLATE("lists are the definition's", T, float, double) { kernel_laws::lists<laconic::device, T>(); }
