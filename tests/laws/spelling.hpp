// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "laconic/any/parse.hpp"

namespace laws {

/// to_string(c) is read back as a compressor that is written alike.
template <class T, class C>
laconic::any_compressor<T> reads_back(C const& c) {
    std::string const text = to_string(c);
    CAPTURE(text);
    auto const read = laconic::parse_compressor<T>(text);
    CHECK(to_string(read) == text);
    CHECK(read == laconic::any_compressor<T>(c));
    return read;
}

}  // namespace laws
