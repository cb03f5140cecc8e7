// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a training loop needs: ranks as threads, reducer, plain sums, all compressors, and ranks within nodes.
/// laconic.hpp has methods, too.
#include "laconic/comm/metered.hpp"
#include "laconic/comm/threads.hpp"
#include "laconic/compress/compressors.hpp"
#include "laconic/compress/identity_or.hpp"
#include "laconic/compress/one_of.hpp"
#include "laconic/compress/parts.hpp"
#include "laconic/compress/scaled_down.hpp"
#include "laconic/core/version.hpp"
#include "laconic/encode.hpp"
#include "laconic/hierarchy.hpp"
#include "laconic/reducer.hpp"
#include "laconic/sum.hpp"
