// SPDX-License-Identifier: Apache-2.0
// Prints, for each pipeline, the digests of its messages about the tests' vectors, and for each step those of where it
// leads, of doubles and of floats.
// They must not depend on the compiler or on the instruction set that this file was compiled for.
#include <bit>
#include <cinttypes>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "laconic/optim/adam.hpp"
#include "laconic/optim/dion2.hpp"
#include "laconic/optim/lion.hpp"
#include "support/laws/messages.hpp"
#include "support/laws/pipelines.hpp"

namespace {

using laconic::compiled::backend;

template <class T>
std::vector<std::vector<T>> of_all_lengths() {
    auto vectors = laws::vectors<T>();
    vectors.push_back(laws::noise<T>(1000, 5, 3));
    return vectors;
}
template <class T>
std::vector<std::vector<T>> for_parts() {
    std::vector<std::vector<T>> vectors;
    for (std::uint64_t n = 0; n < 12; ++n)
        vectors.push_back(laws::noise<T>(laws::length_in_parts, n, static_cast<int>(n)));
    return vectors;
}

template <class T>
std::uint64_t digest_of(std::string const& text, std::vector<std::vector<T>> const& vectors, std::uint16_t turn = 0) {
    auto const c = laconic::parse_compressor<T, backend>(text);
    laws::digest all;
    backend on;
    laconic::any_message<T, backend> m;
    for (std::size_t i = 0; i < vectors.size(); ++i) {
        laconic::key const own{50 + i}, turned{50 + i, 90 + i, turn};
        c(on, std::span<T const>(vectors[i]), turn == 0 ? own : turned, m);
        all.add(laws::written(m));
    }
    return all.value;
}

// In one order of bytes.
void add_word(laws::digest& all, std::uint64_t bits) {
    std::byte bytes[8];
    for (int j = 0; j < 8; ++j) bytes[j] = static_cast<std::byte>(bits >> (8 * j));
    all.add(bytes);
}
template <class T>
void add_bits(laws::digest& all, std::vector<T> const& numbers) {
    using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    for (T const v : numbers) add_word(all, std::isnan(v) ? 0 : std::bit_cast<bits>(v));
}

// Where each of ten steps leads, along odd numbers, zeros, and some that overflow.
template <class T>
std::uint64_t digest_of(auto step) {
    laws::digest all;
    backend on;
    auto x = laws::noise<T>(35, 1, 1);
    for (std::uint64_t t = 0; t < 10; ++t) {
        auto d = laws::noise<T>(35, 2 + t, 1);
        d[t] = T(0), d[33] = T(-0.0);
        if (t == 8) d[20] = std::numeric_limits<T>::max() / 4;
        step(on, std::span<T>(x), std::span<T>(d));
        add_bits(all, x);
    }
    return all.value;
}
void print_steps(auto of_doubles, auto of_floats) {
    std::printf("%016" PRIx64 " %016" PRIx64 " %s\n", digest_of<double>(of_doubles), digest_of<float>(of_floats),
                to_string(of_doubles).c_str());
}

// The numbers that all codes mean, the codes of these, and those of what is halfway between two of them and next to it.
template <class T>
std::uint64_t digest_of(laconic::kernels::short_format format) {
    backend on;
    auto const f = laconic::kernels::layout_of(format);
    std::vector<std::uint16_t> codes(std::size_t{1} << f.width());
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint16_t>(i);
    std::vector<T> meant(codes.size());
    for (std::size_t i = 0; i < codes.size(); ++i) meant[i] = laconic::kernels::short_value<T>(f, codes[i]);
    auto x = meant;
    for (std::size_t i = 0; i + 1 < codes.size(); ++i) {
        T const halfway = meant[i] / 2 + meant[i + 1] / 2;
        x.push_back(halfway);
        x.push_back(std::nextafter(halfway, T(0)));
        x.push_back(std::nextafter(halfway, 2 * halfway));
    }
    for (T const v : {std::numeric_limits<T>::max(), std::numeric_limits<T>::infinity()})
        for (T const w : {v, -v}) x.push_back(w);
    std::vector<std::uint16_t> made(x.size());
    round_to_short(on, std::span<T const>(x), f, std::span(made));
    std::vector<T> sum(codes.size(), T(1));
    typename laconic::messages::short_floats<laconic::kernels::short_format::binary16, T, backend>::terms_type const
        halves{{codes.data()}, codes.size()};
    if (format == laconic::kernels::short_format::binary16) add_terms(on, std::span(sum), T(3), halves);
    laws::digest all;
    add_bits(all, meant), add_bits(all, sum);
    for (std::uint16_t const code : made) add_word(all, code);
    return all.value;
}

}  // namespace

int main() {
    for (auto const f : {laconic::kernels::short_format::binary16, laconic::kernels::short_format::bfloat,
                         laconic::kernels::short_format::e4m3, laconic::kernels::short_format::e5m2})
        std::printf("%016" PRIx64 " %016" PRIx64 " every code of %s\n", digest_of<double>(f), digest_of<float>(f),
                    name_of(f));
    for (auto const& text : laws::chosen_pipelines())
        std::printf("%016" PRIx64 " %016" PRIx64 " %s\n", digest_of<double>(text, of_all_lengths<double>()),
                    digest_of<float>(text, of_all_lengths<float>()), text.c_str());
    for (auto const* text :
         {"quantize(8, bucket=4, p=inf)", "quantize(32767)", "natural", "natural_dithering(4, bucket=4)",
          "hadamard | uniform(3, bucket=4)", "top_k(3) | quantize(1)"})
        std::printf("%016" PRIx64 " %016" PRIx64 " %s, correlated\n",
                    digest_of<double>(text, of_all_lengths<double>(), 0x5555),
                    digest_of<float>(text, of_all_lengths<float>(), 0x5555), text);
    for (auto const& text : laws::in_parts())
        std::printf("%016" PRIx64 " %016" PRIx64 " %s\n", digest_of<double>(text, for_parts<double>()),
                    digest_of<float>(text, for_parts<float>()), text.c_str());
    laconic::adam_options const adam{.rate = .037, .weight_decay = .03, .decoupled = true, .bias_correction = false};
    laconic::adam_options const amsgrad{.rate = .1, .weight_decay = .1, .amsgrad = true, .bias_correction = false};
    laconic::lion_options const lion{.rate = .037, .weight_decay = .03};
    laconic::muon_options const muon{.rows = 5, .rate = .1};
    laconic::dion2_options const dion2{.rows = 7, .rate = .1};
    print_steps(laconic::adam<double, backend>(adam), laconic::adam<float, backend>(adam));
    print_steps(laconic::adam<double, backend>(amsgrad), laconic::adam<float, backend>(amsgrad));
    print_steps(laconic::rmsprop<double, backend>(.1), laconic::rmsprop<float, backend>(.1));
    print_steps(laconic::lion<double, backend>(lion), laconic::lion<float, backend>(lion));
    print_steps(laconic::muon<double, backend>(muon), laconic::muon<float, backend>(muon));
    print_steps(laconic::dion2<double, backend>(dion2), laconic::dion2<float, backend>(dion2));
}
