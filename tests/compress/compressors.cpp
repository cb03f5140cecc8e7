// SPDX-License-Identifier: Apache-2.0
// Every listed compressor has a text that names no other one, and a line for a list; and every one keeps the laws.
#include "laconic/compress/compressors.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"
#include "support/laws/pipelines.hpp"

template <class... C>
void each_is_described(detail::type_list<C...>) {
    static_assert((detail::Described<C> && ...));
    static_assert((detail::SomeCompressor<C> && ...));
    std::set<std::string> texts;
    for (auto const& text : {to_string(C{})...}) CHECK(texts.insert(text).second);
    for (auto const& l : {detail::listed<C>()...}) {
        CAPTURE(l.name);
        CHECK_FALSE(l.about.empty());
        CHECK(l.about.size() + l.source.size() < 120);
    }
}

// A compressor, and over how many messages it is unbiased with its omega, or contractive with its delta; where nothing
// is drawn, one message shows it.
struct promise {
    char const* text;
    int unbiased_over, contractive_over = 0;
};
constexpr promise promises[] = {
    {"identity", 2, 1},
    {"natural", 4000},
    {"quantize(1)", 4000},
    {"quantize(4)", 4000},
    {"quantize(3, bucket=5, p=1)", 4000},
    {"quantize(1, p=1)", 4000},
    {"quantize(1, p=inf)", 4000},
    {"quantize(8, bucket=4, p=inf)", 4000},
    {"quantize(32767, bucket=1)", 4000},
    {"natural_dithering(8)", 4000},
    {"natural_dithering(1)", 4000},
    {"natural_dithering(2, p=1)", 4000},
    {"natural_dithering(3, bucket=5)", 4000},
    {"natural_dithering(4, bucket=4, p=inf)", 4000},
    {"natural_dithering(30, p=inf)", 4000},
    {"natural_dithering(1000, bucket=1)", 4000},
    {"uniform(8)", 4000},
    {"uniform(1)", 4000},
    {"uniform(2, bucket=5)", 4000},
    {"uniform(3, bucket=1)", 4000},
    {"uniform(8, bucket=4)", 4000},
    {"uniform(8, rounding=nearest)", 0, 1},
    {"uniform(3, rounding=nearest)", 0, 1},
    {"uniform(2, bucket=5, rounding=nearest)", 0, 1},
    {"uniform(1, bucket=3, rounding=nearest)", 0, 1},
    {"block_float(nvfp4, rounding=random)", 4000},
    {"block_float(nvfp4, block=5)", 0, 1},
    {"block_float(float8_e4m3, rounding=random)", 4000},
    {"block_float(float8_e5m2)", 0, 1},
    {"block_float(int8, block=4)", 0, 1},
    {"block_float(int4, block=3, rounding=random)", 4000},
    {"top_k(0.5) | block_float(int8)", 0, 1},
    {"rand_k(0.5) | block_float(int8, rounding=random)", 4000},
    {"scaled_sign", 0, 1},
    {"scaled_sign(bucket=3)", 0, 1},
    {"two_means", 0, 1},
    {"two_means(bucket=3)", 0, 1},
    {"bin_means(1, by_sign=yes)", 0, 1},
    {"bin_means(3, bucket=5, by_sign=yes)", 0, 1},
    {"top_k(0.5) | bin_means(2, by_sign=yes)", 0, 1},
    {"centroids(1)", 0, 1},
    {"centroids(2, bucket=5)", 0, 1},
    {"hadamard(block=4) | centroids(3, bucket=4)", 0, 1},
    {"hadamard(block=4) | quantize(2)", 4000},
    {"dense", 0, 1},
    {"dense | quantize(4)", 4000},
    {"zero_blocks(4)", 0, 1},
    {"zero_blocks(4) | natural", 4000},
    {"zero_blocks(4) | top_k(2)", 0, 1},
    {"top_k(0.05)", 0, 1},
    {"top_k(0.25)", 0, 1},
    {"top_k(0.5)", 0, 1},
    {"top_k(0.9)", 0, 1},
    {"top_k(1)", 0, 1},
    {"top_k(2, chunk=5)", 0, 1},
    {"top_k(0.25, chunk=4)", 0, 1},
    {"top_k(0.5) | top_k(0.5)", 0, 1},
    {"top_k(0.5) | scaled_sign", 0, 1},
    {"top_k(0.5) | two_means", 0, 1},
    {"top_k(0.5) | uniform(4, rounding=nearest)", 0, 1},
    {"top_k(0.5) | uniform(4)", 0, 4000},
    {"top_k(0.5) | natural", 0, 4000},
    {"top_k(0.25) | quantize(8)", 0, 4000},
    {"top_k(0.5) | rand_k(0.75)", 0, 4000},
    {"about_top_k(0.25)", 0, 1},
    {"about_top_k(0.5, band=0.4)", 0, 1},
    {"about_top_k(0.5, band=0.3) | natural", 0, 500},
    {"top_blocks(0.5, block=4)", 0, 1},
    {"top_blocks(0.25, block=3)", 0, 1},
    {"top_blocks(0.5, block=3) | natural", 0, 500},
    {"top_blocks(0.5, block=4) | top_k(0.5)", 0, 1},
    {"rand_k(0.5)", 4000},
    {"rand_k(1)", 4000},
    {"rand_k(0.25) | natural", 4000},
    {"rand_k(0.5) | quantize(2, bucket=3, p=inf)", 4000},
    {"rand_k(0.75) | rand_k(0.5)", 4000},
    {"rand_k(0.5) | natural_dithering(4)", 4000},
    {"rand_k(0.5) | uniform(4)", 4000},
    {"rand_block(0.5, block=2)", 4000},
    {"rand_block(1, block=5)", 4000},
    {"rand_block(0.5, block=3) | natural", 4000},
    {"rand_block(0.5, block=2) | rand_k(0.5)", 4000},
    {"bernoulli(0.5)", 4000},
    {"bernoulli(0.9)", 4000},
    {"bernoulli(0.25) | natural", 4000},
    {"bernoulli(0.5) | quantize(2)", 4000},
    {"bernoulli(0.5) | rand_k(0.5)", 4000},
    {"lazy(0.5)", 4000},
    {"lazy(0.9)", 4000},
    {"lazy(0.25) | natural", 4000},
    {"lazy(0.5) | quantize(2)", 4000},
    {"lazy(0.5) | rand_k(0.5)", 4000},
    {"scaled_down(natural)", 0, 500},
    {"scaled_down(quantize(1))", 0, 2000},
    {"scaled_down(rand_k(0.25))", 0, 2000},
    {"top_k(0.5) | scaled_down(quantize(1))", 0, 2000},
};

// Beside those, their neighbours in parameters, and what promises neither.
constexpr char const* others[] = {
    "quantize(1, damped=yes)",
    "quantize(8, bucket=5, p=inf, damped=yes)",
    "quantize(3, bucket=4, p=1, damped=yes)",
    "scaled_sign(bucket=1000000)",
    "two_means(bucket=1000000)",
    "bin_means(8, bucket=3)",
    "top_k(0.25, chunk=5) | bin_means(2)",
    "zero_blocks(1)",
    "zero_blocks(3)",
    "top_k(2)",
    "top_k(0.75)",
    "top_k(3, chunk=3)",
    "top_k(1, chunk=100000)",
    "top_k(0.5, chunk=7) | two_means",
    "clip(limit=0.5)",
    "clip(factor=0.5)",
    "top_k(0.5) | clip(limit=0.5)",
    "dct(side=2) | natural",
    "centroids(4, bucket=3, scale=unbiased)",
    "hadamard(block=2) | centroids(2, bucket=2, scale=norm)",
    "dct(side=2) | top_k(0.5)",
    "top_k(0.5) | fp16",
    "top_k(0.5) | bf16",
    "top_k(0.5) | float8_e4m3",
    "top_k(0.5) | float8_e5m2",
    "top_k(1) | low_rank(rows=1, rank=2)",
    "about_top_k(0.5, band=0.5)",
    "top_blocks(0.3, block=1)",
    "rand_k(2)",
    "rand_k(0.75)",
    "rand_block(0.5, block=4)",
    "bernoulli(1)",
    "bernoulli(2.3283064365386963e-10)",
    "bernoulli(0.3) | quantize(8, bucket=16, p=1)",
    "lazy(1)",
    "lazy(2.3283064365386963e-10)",
    "threshold(0)",
    "threshold(0.25) | top_k(2) | natural",
    "threshold(0.25) | rand_k(0.5)",
    "threshold(1e-300) | natural",
    "proportional(1)",
    "proportional(2) | natural",
    "best_level(top_k, cost=affine(1, 640))",
    "best_level(top_k | scaled_sign(bucket=4), cost=packets(20, 4, 1))",
    "best_level(top_blocks(block=4), cost=energy(1, 2, 3, 4))",
    "best_level(top_k, cost=affine(1, 640), sort_up_to=0)",
    "best_level(top_k | scaled_sign(bucket=4), cost=packets(20, 4, 1), sort_up_to=0)",
    "best_level(quantize(bucket=5, p=inf), cost=affine(1, 500))",
};

template <class T>
void are_kept(std::uint64_t seed) {
    auto all = laws::pipelines();
    all.insert(all.end(), std::begin(others), std::end(others));
    for (auto const& p : promises) {
        laws::forms<T> const c(p.text);
        if (p.unbiased_over > 0) laws::is_unbiased_for_all<T>(c, seed, p.unbiased_over);
        if (p.contractive_over > 0) laws::is_contractive_for_all<T>(c, 2 * seed, p.contractive_over);
        all.push_back(p.text);
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    for (auto const& text : all) laws::is_a_pure_function<T>(text.c_str());
}

TEST_CASE("every compressor, and every sparsifier with every quantizer, keeps the laws, for double" *
          doctest::test_suite("slow")) {
    are_kept<double>(1000);
}

TEST_CASE("every compressor, and every sparsifier with every quantizer, keeps the laws, for float") {
    are_kept<float>(1100);
}

TEST_CASE("every listed compressor is described, and differs from the others") {
    each_is_described(detail::library_compressors{});
}
