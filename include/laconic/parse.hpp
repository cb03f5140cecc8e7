// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Compressors, costs, collectives, reductions, steps and methods from texts, such as "diana(rand_k(0.1) | natural)".
#include "laconic/any/cost.hpp"
#include "laconic/any/parse.hpp"
#include "laconic/any/parse_collective.hpp"
#include "laconic/any/parse_reduction.hpp"
#include "laconic/any/parse_step.hpp"
#include "laconic/parse_method.hpp"
