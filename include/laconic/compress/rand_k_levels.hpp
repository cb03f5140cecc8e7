// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <string>

#include "laconic/compress/levels.hpp"
#include "laconic/compress/natural.hpp"
#include "laconic/compress/rand_k.hpp"

namespace laconic {

/// The level is k of rand_k, with values in full or rounded to powers of two. Its error is the same for every vector,
/// so there is no kept(): the level belongs to a problem (method/guarantee.hpp). bits() are the whole bytes that it
/// writes, as its support is free.
template <class Rest>
requires(std::same_as<Rest, identity> || std::same_as<Rest, natural>) struct levels<rand_k<Rest>> {
    using type = rand_k<Rest>;
    static std::size_t count(type const&, std::size_t d) { return d; }
    static type at(type const&, std::size_t level, std::size_t) { return {level}; }
    static std::string family(type const&) { return std::same_as<Rest, identity> ? "rand_k" : "rand_k | natural"; }
    template <Scalar T>
    static double bits(type const&, std::size_t level, std::size_t) {
        std::size_t width = 8 * sizeof(T);
        if constexpr (std::same_as<Rest, natural>) width = detail::message_of<natural, T>::code_width;
        return static_cast<double>((level * width + 7) / 8 * 8);
    }
};

}  // namespace laconic
