// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The CPU backend, whole.
#include "laconic/backend/backend.hpp"
#include "laconic/backend/host/buckets.hpp"
#include "laconic/backend/host/lists.hpp"
#include "laconic/backend/host/matrix.hpp"
#include "laconic/backend/host/pack.hpp"
#include "laconic/backend/host/round_blocks.hpp"
#include "laconic/backend/host/sample.hpp"
#include "laconic/backend/host/select.hpp"
#include "laconic/backend/host/unpack.hpp"
