// SPDX-License-Identifier: Apache-2.0
//
// Of each quantizer Q: Q rounds a vector into its message; Q_encoded makes the message's bytes, those of codes as they
// are made; Q_read reads those and adds the message to a vector. Fractions are of reading the vector's numbers once,
// for all three.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "kernel.hpp"
#include "laconic/compress/centroids.hpp"
#include "laconic/compress/clip.hpp"
#include "laconic/compress/compressors.hpp"
#include "laconic/compress/transforms.hpp"
#include "laconic/wire/message.hpp"

namespace kernel_bench {

namespace {

using namespace laconic;

constexpr std::size_t bucket = 512;

template <class T, class C>
void add_rounding(std::string const& name, C const& c, input from, std::size_t d) {
    add<T>({name, from, d}, [c](std::span<T const> x) {
        return [x, c, on = backend(), m = detail::message_of<C, T, backend>(), n = std::uint64_t{0}]() mutable {
            c(on, x, key{n++}, m);
        };
    });
}
template <class T, class C>
void add_encoding(std::string const& name, C const& c, std::size_t d) {
    add<T>({name + "_encoded", input::gauss, d}, [c](std::span<T const> x) {
        return [x, c, on = backend(), m = detail::message_of<C, T, backend>(), sink = wire::bit_writer(),
                n = std::uint64_t{0}]() mutable {
            sink.clear();
            if constexpr (requires { wire::kind_of<decltype(m)>.put_made(on, sink, c, x, key{}, m); }) {
                wire::compress_and_write(on, sink, c, x, key{n++}, m);
            } else {
                c(on, x, key{n++}, m);
                write(sink, m);
            }
            benchmark::DoNotOptimize(sink.finish().data());
        };
    });
    add<T>({name + "_read", input::gauss, d}, [c](std::span<T const> x) {
        backend on;
        detail::message_of<C, T, backend> m;
        c(on, x, key{1}, m);
        wire::bit_writer sink;
        write(sink, m);
        auto const encoded = sink.finish();
        return [c, on = backend(), m, encoded = std::vector<std::byte>(encoded.begin(), encoded.end()),
                y = std::vector<T>(x.size())]() mutable {
            c.blank(on, y.size(), key{1}, m);
            wire::bit_reader source(encoded);
            read_and_add(on, source, m, c, T(0.5), std::span(y));
            source.finish();
        };
    });
}

template <class C>
void add_quantizer(std::string const& name, C const& c) {
    add_rounding<float>(name, c, input::gauss, in_memory);
    add_encoding<float>(name, c, in_memory);
}

// What one would write without a library: a random number for each value from a generator with a state, and the
// fraction compared with it.
template <class Generator>
void add_plain_loop(std::string const& name, int levels) {
    add<float>({name, input::gauss}, [levels](std::span<float const> x) {
        return [x, levels, draw = Generator(), codes = std::vector<std::int8_t>(x.size())]() mutable {
            for (std::size_t first = 0; first < x.size(); first += bucket) {
                auto const part = x.subspan(first, std::min(bucket, x.size() - first));
                float squares = 0;
                for (float const v : part) squares += v * v;
                float const per_step = static_cast<float>(levels) / std::sqrt(squares);
                for (std::size_t i = 0; i < part.size(); ++i) {
                    float const on_grid = std::abs(part[i]) * per_step, below = std::floor(on_grid);
                    float const chance = static_cast<float>(static_cast<std::uint32_t>(draw()) >> 8) * 0x1p-24f;
                    float const level = below + (chance < on_grid - below ? 1.0f : 0.0f);
                    codes[first + i] = static_cast<std::int8_t>(part[i] < 0 ? -level : level);
                }
            }
        };
    });
}

// Nothing but the traffic: each number is read, and a code of 8 bits written.
void add_codes_alone(std::string const& name, std::size_t d) {
    add<float>({name, input::gauss, d}, [](std::span<float const> x) {
        return [x, codes = std::vector<std::int8_t>(x.size())]() mutable {
            // By names of its own: bytes may be anybody's, and what is captured would be read anew for each of them.
            float const* const from = x.data();
            std::int8_t* const to = codes.data();
            std::size_t const n = x.size();
            for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<std::int8_t>(static_cast<std::int32_t>(from[i]));
            benchmark::DoNotOptimize(codes.data());
        };
    });
}

// xoshiro128++ 1.0 (Blackman, Vigna, "Scrambled linear pseudorandom number generators", 2021).
struct xoshiro {
    std::uint32_t s[4] = {1, 2, 3, 4};
    std::uint32_t operator()() {
        auto const turned = [](std::uint32_t v, int by) { return v << by | v >> (32 - by); };
        std::uint32_t const result = turned(s[0] + s[3], 7) + s[0], t = s[1] << 9;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = turned(s[3], 11);
        return result;
    }
};

}  // namespace

void add_quantize() {
    // The random numbers alone: words of 32 bits, and the windows that values are rounded by.
    add<float>({"words"}, [](std::span<float const> x) {
        return [n = x.size(), on = backend(), words = std::vector<std::uint32_t>(4096)]() mutable {
            for (std::size_t i = 0; i < n; i += words.size()) draw_words(on, key{1}, i / 4, std::span(words));
        };
    });
    add<float>({"windows"}, [](std::span<float const> x) {
        return [n = x.size()] {
            kernels::random_windows<simd::arch> draws(key{1}, 0, n);
            for (std::size_t i = 0; i < n; i += draws.most) draws.at(i, draws.most);
        };
    });
    add_quantizer("quantize_2_bits", quantize{1, bucket});
    add_quantizer("quantize_4_bits", quantize{7, bucket});
    add_quantizer("quantize_8_bits", quantize{127, bucket});
    add_quantizer("terngrad", quantize{1, 0, p_norm::largest});
    add_quantizer("uniform_4_bits", uniform{4, bucket});
    add_quantizer("uniform_8_bits", uniform{8, bucket});
    add_quantizer("natural", natural{});
    add_quantizer("natural_dithering", natural_dithering{8, bucket});
    add_quantizer("scaled_sign", scaled_sign{});
    add_quantizer("fp16", fp16{});
    add_quantizer("bf16", bf16{});
    // The rest of what the parser lists, a sparsifier of each kind of message.
    add_encoding<float>("identity", identity{}, in_memory);
    add_encoding<float>("vote", vote{}, in_memory);
    add_encoding<float>("two_means", two_means{bucket}, in_memory);
    add_encoding<float>("damped_quantize_4_bits", damped_quantize{7, bucket}, in_memory);
    add_encoding<float>("uniform_4_bits_nearest", uniform<rounding::nearest>{4, bucket}, in_memory);
    add_encoding<float>("fp16_random", fp16::random{}, in_memory);
    add_encoding<float>("bf16_random", bf16::random{}, in_memory);
    add_encoding<float>("float8_e4m3", float8_e4m3{}, in_memory);
    add_encoding<float>("float8_e5m2", float8_e5m2{}, in_memory);
    add_encoding<float>("mxfp8_e4m3", block_float{block_format::mxfp8_e4m3}, in_memory);
    add_encoding<float>("mxfp4", block_float{block_format::mxfp4}, in_memory);
    add_encoding<float>("mxfp6_e2m3", block_float{block_format::mxfp6_e2m3}, in_memory);
    add_encoding<float>("nvfp4", block_float{block_format::nvfp4}, in_memory);
    add_encoding<float>("int8_blocks", block_float{block_format::int8, 128}, in_memory);
    add_encoding<float>("bin_means_2_bits", bin_means{2, bucket}, in_memory);
    add_encoding<float>("centroids_2_bits", centroids{2, bucket}, in_memory);
    add_encoding<float>("hadamard_centroids_2_bits", hadamard{} | centroids{2, 4096}, in_memory);
    add_encoding<float>("dct_top_k_1_percent", dct{} | top_k{0.01}, in_memory);
    add_encoding<float>("clip", clip{1}, in_memory);
    add_encoding<float>("top_k_1_percent", top_k{0.01}, in_memory);
    add_encoding<float>("rand_k_1_percent", rand_k{0.01}, in_memory);

    add_rounding<float>("quantize_8_bits_whole", quantize{127}, input::gauss, in_memory);
    add_rounding<float>("uniform_2_bits", uniform{2, bucket}, input::gauss, in_memory);
    for (input const from : {input::heavy, input::zeros_90, input::equal})
        add_rounding<float>("quantize_4_bits", quantize{7, bucket}, from, in_memory);
    for (std::size_t const d : {in_l2, in_l3, far_in_memory}) {
        add_rounding<float>("quantize_2_bits", quantize{1, bucket}, input::gauss, d);
        add_rounding<float>("quantize_4_bits", quantize{7, bucket}, input::gauss, d);
        add_rounding<float>("quantize_8_bits", quantize{127, bucket}, input::gauss, d);
        add_rounding<float>("scaled_sign", scaled_sign{}, input::gauss, d);
        add_rounding<float>("natural", natural{}, input::gauss, d);
    }
    add_rounding<double>("quantize_4_bits", quantize{7, bucket}, input::gauss, in_memory);
    add_rounding<double>("natural", natural{}, input::gauss, in_memory);
    add_rounding<double>("scaled_sign", scaled_sign{}, input::gauss, in_memory);

    for (std::size_t const d : {in_memory, far_in_memory}) add_codes_alone("quantize_4_bits.codes_alone", d);
    add_plain_loop<std::mt19937>("quantize_4_bits.plain_loop_mt19937", 7);
    add_plain_loop<xoshiro>("quantize_4_bits.plain_loop_xoshiro", 7);
    add_plain_loop<xoshiro>("quantize_8_bits.plain_loop_xoshiro", 127);
}

}  // namespace kernel_bench
