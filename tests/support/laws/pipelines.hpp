// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "laconic/compress/compressors.hpp"
#include "named.hpp"

namespace laws {

inline std::vector<std::string> sparsifiers() {
    return {"dense",
            "top_k(3)",
            "top_k(0.25)",
            "rand_k(3)",
            "rand_k(0.5)",
            "bernoulli(0.5)",
            "proportional(4)",
            "lazy(0.5)",
            "threshold(0.5)",
            "zero_blocks(4)",
            "top_blocks(0.5, block=4)",
            "rand_block(2, block=3)",
            "about_top_k(0.25, band=0.2)"};
}
inline std::vector<std::string> quantizers() {
    return {"identity",
            "quantize(1)",
            "quantize(8, bucket=4, p=inf)",
            "natural",
            "scaled_sign",
            "natural_dithering(4, bucket=4)",
            "uniform(3, bucket=4)",
            "two_means",
            "fp16",
            "float8_e4m3"};
}

/// Every sparsifier | every quantizer, and some longer pipes. tests/builds keeps digests of their messages.
inline std::vector<std::string> chosen_pipelines() {
    std::vector<std::string> all = quantizers();
    for (auto const& s : sparsifiers())
        for (auto const& q : quantizers()) all.push_back(q == "identity" ? s : s + " | " + q);
    for (char const* more : {"quantize(4)",
                             "quantize(3, bucket=5, p=1)",
                             "quantize(32767)",
                             "quantize(3, bucket=5, damped=yes)",
                             "scaled_sign(bucket=5)",
                             "vote",
                             "top_k(3) | vote",
                             "proportional(0.5, damped=yes)",
                             "best_level(proportional, cost=affine(1, 100))",
                             "best_level(proportional, cost=affine(1, 100), sort_up_to=0)",
                             "best_level(proportional, sizes=written)",
                             "bf16",
                             "float8_e5m2",
                             "natural_dithering(1, bucket=7, p=1)",
                             "natural_dithering(200, p=inf)",
                             "uniform(1, bucket=5)",
                             "uniform(8, rounding=nearest)",
                             "two_means(bucket=5)",
                             "block_float(nvfp4)",
                             "block_float(int8, block=5, rounding=random)",
                             "top_k(6) | block_float(float8_e4m3)",
                             "low_rank(rows=1, rank=1)",
                             "threshold(0.25) | low_rank(rows=1, rank=1)",
                             "top_k(6) | rand_k(3) | natural",
                             "threshold(0.25) | top_k(2) | quantize(4)",
                             "rand_k(0.5) | threshold(0.125)",
                             "top_k(0.5) | top_k(0.5) | quantize(2)",
                             "rand_k(5) | rand_k(0.5)",
                             "threshold(0) | dense | natural",
                             "zero_blocks(4) | top_k(0.5) | natural",
                             "rand_block(0.5, block=2) | top_blocks(0.5, block=2) | scaled_sign",
                             "scaled_down(rand_k(0.5) | natural)",
                             "top_k(0.5) | scaled_down(quantize(1))",
                             "best_level(top_k)",
                             "best_level(top_k, sizes=written)",
                             "best_level(top_k, cost=affine(1, 100), sort_up_to=0)",
                             "best_level(top_k | scaled_sign, cost=packets(20, 4, 1))",
                             "best_level(top_k | scaled_sign, cost=packets(20, 4, 1), sizes=written, sort_up_to=0)",
                             "best_level(top_k, top_k | scaled_sign, cost=affine(1, 100))",
                             "best_level(top_k, top_k | scaled_sign, sizes=written, sort_up_to=0)",
                             "best_level(quantize)",
                             "best_level(quantize(bucket=4, p=inf), cost=affine(1, 100), sizes=written)",
                             "best_level(top_blocks(block=4))"})
        all.push_back(more);
    return all;
}

/// Of those compressors that take all numbers: the laws' vectors have some that are beyond all short formats.
template <class... C>
std::vector<std::string> defaults_of(laconic::detail::type_list<C...>) {
    std::vector<std::string> texts;
    auto const add = [&](auto const& c) {
        if (std::isinf(laconic::detail::largest_of(c))) texts.push_back(to_string(c));
    };
    (add(C{}), ...);
    return texts;
}
/// These, and every such compressor of the library with its defaults.
inline std::vector<std::string> pipelines() {
    auto all = chosen_pipelines();
    for (auto const& text : defaults_of(laconic::detail::library_compressors{}))
        if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
    return all;
}

/// Compositions about vectors of seven numbers: their parts have lengths of their own.
inline constexpr std::size_t length_in_parts = 7;
inline std::vector<std::string> in_parts() {
    return {"parts(4, natural, 3, identity)",
            "parts(6, low_rank(rows=2, rank=1), 1, identity)",
            "parts(5, top_k(0.5) | quantize(1), 0, identity, 2, scaled_sign)",
            "parts(3, rand_k(2), 4, parts(1, fp16, 3, threshold(0.25)))",
            "rand_k(5) | parts(2, natural, 3, quantize(2))",
            "scaled_down(parts(4, natural, 3, rand_k(1)))"};
}

/// Calls f with each of the pipelines. They are read at run time: as types they would take minutes to compile.
template <class T, class B = laconic::host, class F>
void each_pipeline(F f) {
    for (auto const& text : pipelines()) f(laconic::parse_compressor<T, B>(text));
}

}  // namespace laws
