// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/core/types.hpp"
#include "laconic/method/adiana.hpp"
#include "laconic/method/bidirectional.hpp"
#include "laconic/method/cat.hpp"
#include "laconic/method/dcgd.hpp"
#include "laconic/method/diana.hpp"
#include "laconic/method/ef21.hpp"
#include "laconic/method/ef21_muon.hpp"
#include "laconic/method/ef_sgd.hpp"
#include "laconic/method/gd_sec.hpp"
#include "laconic/method/ibcd.hpp"
#include "laconic/method/lag.hpp"
#include "laconic/method/local_sgd.hpp"
#include "laconic/method/locodl.hpp"
#include "laconic/method/marina.hpp"
#include "laconic/method/one_bit_adam.hpp"
#include "laconic/method/signsgd.hpp"
#include "laconic/method/some_of.hpp"
#include "laconic/method/with_step.hpp"

namespace laconic::detail {

/// The library's methods, where a compressor that they take is a C, and a method that they extend an M. (cat, whose
/// arguments are more than fields, is not among them.)
template <class C, class M>
using library_methods =
    type_list<gd, sgd, dcgd<C>, qsgd, terngrad, signsgd, signum, ef_sgd<C>, top_k_sgd, gtop_k_sgd, spardl_sgd,
              one_bit_sgd, dgc, ef21<C>, ef21_sgdm<C>, ef21_muon<C>, clip21, diana<C>, adiana<C>, vr_diana<C>,
              vr_diana_saga<C>, marina<C>, dasha<C>, ibcd, ibgd, isega, isaga, isgd, iasgd, gd_sec, sgd_sec,
              quantized_gd_sec<C>, lag_wk, lag_ps, dual_averaging, proxskip, locodl<C>, local_sgd, scaffold, diloco<C>,
              one_bit_adam<C>, heavy_ball<M>, bidirectional<M, C>, some_of<M>>;

}  // namespace laconic::detail
