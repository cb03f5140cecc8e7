// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The device backend, whole: Thrust's device system. No other header includes it: it needs Thrust, and options that
/// CMake's target laconic::device sets.
#include "laconic/backend/backend.hpp"
#include "laconic/backend/device/blocks.hpp"
#include "laconic/backend/device/buckets.hpp"
#include "laconic/backend/device/lists.hpp"
#include "laconic/backend/device/matrix.hpp"
#include "laconic/backend/device/sample.hpp"
#include "laconic/backend/device/update.hpp"
