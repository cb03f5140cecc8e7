// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What most programs need: reduce.hpp, descend(), and all methods and collectives. Beside it stand objective.hpp,
/// parse.hpp, simulate.hpp and packet.hpp, and all.hpp has everything.
#include "laconic/collective/collectives.hpp"
#include "laconic/method/methods.hpp"
#include "laconic/optim/adam.hpp"
#include "laconic/optim/dion2.hpp"
#include "laconic/optim/layered_step.hpp"
#include "laconic/optim/lion.hpp"
#include "laconic/outer_reducer.hpp"
#include "laconic/reduce.hpp"
#include "laconic/run.hpp"
#include "laconic/transport/in_background.hpp"
