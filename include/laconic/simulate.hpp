// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What messages would take on another network: recorded traffic, its replay on simulated clocks, and what a network costs.
#include "laconic/adapt/would_it_pay.hpp"
#include "laconic/comm/delayed.hpp"
#include "laconic/comm/measured_cost.hpp"
#include "laconic/comm/network.hpp"
#include "laconic/comm/recorded.hpp"
#include "laconic/comm/replay.hpp"
#include "laconic/core/fitted_cost.hpp"
