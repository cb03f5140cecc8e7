// SPDX-License-Identifier: Apache-2.0
//
// What every test program is compiled behind: the library as a whole, and what tests need of others.
#pragma once

#include "laconic/all.hpp"
#include "eigen_solvers.hpp"
#include "support/read_others.hpp"
