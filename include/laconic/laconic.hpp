// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What most programs need: ranks as threads, reducer, descend(), and all compressors, methods and collectives.
/// Beside it stand objective.hpp, parse.hpp, simulate.hpp and packet.hpp, and all.hpp has everything.
#include "laconic/collective/collectives.hpp"
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
#include "laconic/method/methods.hpp"
#include "laconic/reducer.hpp"
#include "laconic/run.hpp"
#include "laconic/sum.hpp"
#include "laconic/transport/in_background.hpp"
