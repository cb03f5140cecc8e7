// SPDX-License-Identifier: Apache-2.0
// Prints, for each pipeline, the digests of its messages about the tests' vectors, of doubles and of floats.
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
    std::vector<std::byte> bytes;
    auto const put = [&](std::uint64_t bits) {  // in one order of bytes
        for (int shift = 0; shift < 64; shift += 8) bytes.push_back(static_cast<std::byte>(bits >> shift));
    };
    for (auto const* numbers : {&meant, &sum})
        for (T const v : *numbers)
            put(std::isnan(v) ? 0 : std::bit_cast<std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>(v));
    for (std::uint16_t const code : made) put(code);
    all.add(bytes);
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
}
