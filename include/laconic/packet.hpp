// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The protocols of OmniReduce and SwitchML as machines that send and receive packets.
#include "laconic/packet/omni_aggregator.hpp"
#include "laconic/packet/omni_blocks.hpp"
#include "laconic/packet/omni_machine.hpp"
#include "laconic/packet/omni_stream.hpp"
#include "laconic/packet/omni_worker.hpp"
#include "laconic/packet/switch_machine.hpp"
#include "laconic/packet/switch_packet.hpp"
#include "laconic/packet/switch_pool.hpp"
#include "laconic/packet/switch_worker.hpp"
