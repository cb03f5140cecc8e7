// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The definition of each kernel's result, whole.
#include "laconic/backend/backend.hpp"
#include "laconic/backend/reference/round.hpp"
#include "laconic/backend/reference/select.hpp"
