// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/core/types.hpp"
#include "laconic/decentralized/gadmm.hpp"
#include "laconic/decentralized/gossip.hpp"
#include "laconic/second_order/ds_lsr1.hpp"
#include "laconic/second_order/fednl.hpp"

namespace laconic {

/// The methods of other families that minimise the mean of the ranks' objectives, each by a loop of its own (loop.hpp),
/// where a compressor that they take is a C, and a collective an X.
template <class C, class X>
using library_loop_methods =
    detail::type_list<gadmm, d_gadmm, q_gadmm, choco<C>, pair_gossip, fednl<C, plain<>, X>, ds_lsr1<X>>;

}  // namespace laconic
