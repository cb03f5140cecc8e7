// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "laconic/any/best_level.hpp"
#include "laconic/compress/centroids.hpp"
#include "laconic/compress/clip.hpp"
#include "laconic/compress/compressors.hpp"
#include "laconic/compress/parts.hpp"
#include "laconic/compress/transforms.hpp"

namespace laconic {

template <Scalar T, class B>
struct registry<any_compressor<T, B>> {
    static constexpr char const* kind = "a compressor";
    using types =
        detail::types_of_both<detail::library_compressors,
                              detail::type_list<clip, centroids, dct<>, hadamard<>, scaled_down<any_compressor<T, B>>,
                                                detail::best_level_text<T, B>, parts<any_compressor<T, B>>>>;
};

/// Reads the text of a compressor, such as "top_k(0.01) | natural"; to_string of the result reads back as the same.
/// Throws parse_error with the place and the valid names.
template <Scalar T = double, class B = host>
any_compressor<T, B> parse_compressor(std::string_view text) {
    return grammar::parse<any_compressor<T, B>>(text);
}

/// All compressors that parse_compressor reads. (A template, so that only its callers compile all compressors.)
template <Scalar T = double, class B = host>
std::vector<listed_value> list_compressors() {
    return grammar::abouts<any_compressor<T, B>>();
}

}  // namespace laconic
