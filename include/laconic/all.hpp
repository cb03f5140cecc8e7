// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Every header that needs neither MPI nor a GPU nor POSIX, except for compiled.hpp, which needs a library.
#include "laconic/adapt/warm_start.hpp"
#include "laconic/backend/reference.hpp"
#include "laconic/backend/threaded.hpp"
#include "laconic/check_compressor.hpp"
#include "laconic/collective/consensus.hpp"
#include "laconic/comm/engine_of.hpp"
#include "laconic/comm/topology.hpp"
#include "laconic/decentralized/gadmm.hpp"
#include "laconic/decentralized/gossip.hpp"
#include "laconic/ensemble/adanet.hpp"
#include "laconic/laconic.hpp"
#include "laconic/method/reduction_of.hpp"
#include "laconic/objective.hpp"
#include "laconic/packet.hpp"
#include "laconic/parse.hpp"
#include "laconic/resume.hpp"
#include "laconic/second_order/ds_lsr1.hpp"
#include "laconic/second_order/fednl.hpp"
#include "laconic/simulate.hpp"
#include "laconic/vertical/fed_bcd.hpp"
