// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/collective/automatic.hpp"
#include "laconic/collective/collective.hpp"
#include "laconic/collective/dense/engine_all_reduce.hpp"
#include "laconic/collective/dense/halving_doubling.hpp"
#include "laconic/collective/dense/omni_reduce.hpp"
#include "laconic/collective/dense/ring.hpp"
#include "laconic/collective/dense/switch_ml.hpp"
#include "laconic/collective/dense/two_shot.hpp"
#include "laconic/collective/select/arc_top_k.hpp"
#include "laconic/collective/select/gtop_k.hpp"
#include "laconic/collective/select/ok_top_k.hpp"
#include "laconic/collective/select/shared_factors.hpp"
#include "laconic/collective/select/spar_reduce_scatter.hpp"
#include "laconic/collective/sparse/compressed_split_all_gather.hpp"
#include "laconic/collective/sparse/gathered_sum.hpp"
#include "laconic/collective/sparse/recursive_doubling.hpp"
#include "laconic/collective/sparse/split_all_gather.hpp"
#include "laconic/collective/sparse/sum_by_server.hpp"
#include "laconic/core/types.hpp"

namespace laconic::detail {

/// The library's collectives, with which a recursion's or a reduction's messages become their sum. Of those with a
/// compressor of any type, such as two_shot, the parser adds the form for compressors chosen at run time
/// (any/parse_collective.hpp).
using library_collectives =
    type_list<gather_all, ring, halving_doubling, recursive_doubling, split_all_gather,
              compressed_split_all_gather<quantize>, gtop_k, spar_reduce_scatter, ok_top_k, sum_by_server, gathered_sum,
              omni_reduce, switch_ml, engine_all_reduce, arc_top_k, shared_factors, automatic>;

}  // namespace laconic::detail
