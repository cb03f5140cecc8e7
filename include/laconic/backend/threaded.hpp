// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The CPU backend on several threads, whole.
#include "laconic/backend/threaded/passes.hpp"
#include "laconic/backend/threaded/select.hpp"
