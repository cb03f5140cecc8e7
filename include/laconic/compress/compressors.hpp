// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/compress/bin_means.hpp"
#include "laconic/compress/block_float.hpp"
#include "laconic/compress/identity.hpp"
#include "laconic/compress/low_rank.hpp"
#include "laconic/compress/natural.hpp"
#include "laconic/compress/proportional.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/short_float.hpp"
#include "laconic/compress/signs.hpp"
#include "laconic/compress/threshold.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/core/types.hpp"

namespace laconic::detail {

/// The library's compressors that hold no other one but a sparsifier's rest: the parser, the lists and the laws' tests
/// take them from here. A new one is one line more.
using library_compressors = type_list<  //
    dense<>,                            //
    top_k<>,                            //
    rand_k<>,                           //
    bernoulli<>,                        //
    proportional<>,                     //
    proportional<identity, true>,       //
    lazy<>,                             //
    threshold<>,                        //
    zero_blocks<>,                      //
    top_blocks<>,                       //
    rand_block<>,                       //
    about_top_k<>,                      //
    identity,                           //
    quantize,                           //
    damped_quantize,                    //
    scaled_sign,                        //
    vote,                               //
    natural,                            //
    natural_dithering,                  //
    uniform<>,                          //
    uniform<rounding::nearest>,         //
    two_means,                          //
    bin_means,                          //
    fp16,                               //
    fp16::random,                       //
    bf16,                               //
    bf16::random,                       //
    float8_e4m3,                        //
    float8_e4m3::random,                //
    float8_e5m2,                        //
    float8_e5m2::random,                //
    block_float,                        //
    low_rank<>>;

}  // namespace laconic::detail
