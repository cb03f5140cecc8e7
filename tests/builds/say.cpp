// SPDX-License-Identifier: Apache-2.0
// Prints, for each pipeline, the digests of its messages about all vectors of the tests, of doubles and of floats. The
// output must not depend on the compiler or on the instruction set that this file was compiled for.
#include <cinttypes>
#include <cstdio>
#include <string>
#include <vector>

#include "laws/messages.hpp"
#include "laws/pipelines.hpp"

namespace {

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
std::uint64_t digest_of(std::string const& text, std::vector<std::vector<T>> const& vectors) {
    auto const c = laconic::parse_compressor<T>(text);
    laws::digest all;
    laconic::host on;
    laconic::any_message<T, laconic::host> m;
    for (std::size_t i = 0; i < vectors.size(); ++i) {
        c(on, std::span<T const>(vectors[i]), laconic::key{50 + i}, m);
        all.add(laws::written(m));
    }
    return all.value;
}

}  // namespace

int main() {
    for (auto const& text : laws::pipelines())
        std::printf("%016" PRIx64 " %016" PRIx64 " %s\n", digest_of<double>(text, of_all_lengths<double>()),
                    digest_of<float>(text, of_all_lengths<float>()), text.c_str());
    for (auto const& text : laws::in_parts())
        std::printf("%016" PRIx64 " %016" PRIx64 " %s\n", digest_of<double>(text, for_parts<double>()),
                    digest_of<float>(text, for_parts<float>()), text.c_str());
}
