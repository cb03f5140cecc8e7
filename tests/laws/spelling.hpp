// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <concepts>
#include <string>

#include "laws/pipelines.hpp"

namespace laws {

/// to_string(c) is read back as a compressor that is written alike.
template <class T, class C>
void reads_back(C const& c) {
    std::string const text = to_string(c);
    CAPTURE(text);
    CHECK(to_string(laconic::parse_compressor<T>(text)) == text);
}

}  // namespace laws
