// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/compress/bernoulli.hpp"
#include "laconic/compress/dense.hpp"
#include "laconic/compress/lazy.hpp"
#include "laconic/compress/natural.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/sign.hpp"
#include "laconic/compress/threshold.hpp"
#include "laconic/compress/top_k.hpp"

namespace laws {

/// Calls f with every sparsifier | every quantizer, and with some longer pipes.
template <class F>
void each_pipeline(F f) {
    using namespace laconic;
    auto const each_quantizer_after = [&](auto const& s) {
        f(s);
        f(s | quantize{1});
        f(s | quantize{8, 4, norm::largest});
        f(s | natural{});
        f(s | sign{});
    };
    f(full{});
    f(quantize{});
    f(quantize{4});
    f(quantize{3, 5, norm::one});
    f(quantize{8, 4, norm::largest});
    f(quantize{32767});
    f(natural{});
    f(sign{});
    f(sign{5});
    each_quantizer_after(dense{});
    each_quantizer_after(top_k{3});
    each_quantizer_after(top_k{0.25});
    each_quantizer_after(rand_k{3});
    each_quantizer_after(rand_k{0.5});
    each_quantizer_after(bernoulli{0.5});
    each_quantizer_after(lazy{0.5});
    each_quantizer_after(threshold{0.5});
    f(top_k{6} | rand_k{3} | natural{});
    f(threshold{0.25} | top_k{2} | quantize{4});
    f(rand_k{0.5} | threshold{0.125});
    f(top_k{0.5} | top_k{0.5} | quantize{2});
    f(rand_k{5} | rand_k{0.5});
    f(threshold{0} | dense{} | natural{});
}

}  // namespace laws
