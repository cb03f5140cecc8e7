// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fuzz/input.hpp"
#include "support/laws/messages.hpp"
#include "support/laws/pipelines.hpp"

/// What the fuzz targets of messages share: how an input names a compressor, a dimension and a key.
namespace fuzz {

/// Which of all pipelines, for how many numbers, under which key: the first six bytes.
template <class T>
struct setting {
    laconic::any_compressor<T> const& compressor;
    std::size_t dimension;
    laconic::key from;
};
template <class T>
setting<T> setting_of(input& in) {
    static std::vector<laconic::any_compressor<T>> const all = [] {
        std::vector<laconic::any_compressor<T>> compressors;
        laws::each_pipeline<T>([&](auto const& c) { compressors.push_back(c); });
        for (auto const& text : laws::in_parts()) compressors.push_back(laconic::parse_compressor<T>(text));
        return compressors;
    }();
    auto const which = in.take<std::uint16_t>(), d = in.take<std::uint16_t>(), k = in.take<std::uint16_t>();
    std::size_t const n = which % all.size();
    bool const has_parts = n >= all.size() - laws::in_parts().size();
    return {all[n], has_parts ? laws::length_in_parts : d % std::size_t{300}, laconic::key{k}};
}

/// The same six bytes, for the seeds.
inline std::vector<std::byte> header(std::size_t which, std::size_t d, std::uint64_t k) {
    std::vector<std::byte> bytes;
    for (std::uint64_t const n : {std::uint64_t{which}, std::uint64_t{d}, k})
        for (int b = 0; b < 2; ++b) bytes.push_back(static_cast<std::byte>(n >> (8 * b) & 255));
    return bytes;
}

}  // namespace fuzz
