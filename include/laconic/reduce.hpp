// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a training loop needs: ranks as threads, reducer, plain sums, compressors, and ranks within nodes.
/// laconic.hpp has methods, too, and the compressors that these need: identity_or, one_of, best_level.
#include "laconic/comm/metered.hpp"
#include "laconic/comm/threads.hpp"
#include "laconic/compress/compressors.hpp"
#include "laconic/compress/parts.hpp"
#include "laconic/core/version.hpp"
#include "laconic/encode.hpp"
#include "laconic/hierarchy.hpp"
#include "laconic/reducer.hpp"
#include "laconic/sum.hpp"
