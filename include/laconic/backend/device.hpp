// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The device backend, whole: Thrust's device system. No other header includes it: it needs Thrust, and options that
/// CMake's target laconic::device sets.
#include "laconic/backend/backend.hpp"
#include "laconic/backend/device/array.hpp"
#include "laconic/backend/device/blocks.hpp"
#include "laconic/backend/device/buckets.hpp"
#include "laconic/backend/device/kth_largest.hpp"
#include "laconic/backend/device/lists.hpp"
#include "laconic/backend/device/matrix.hpp"
#include "laconic/backend/device/memory.hpp"
#include "laconic/backend/device/passes.hpp"
#include "laconic/backend/device/reduce.hpp"
#include "laconic/backend/device/round.hpp"
#include "laconic/backend/device/sample.hpp"
#include "laconic/backend/device/select.hpp"
#include "laconic/backend/device/sum.hpp"
#include "laconic/backend/device/system.hpp"
#include "laconic/backend/device/update.hpp"
