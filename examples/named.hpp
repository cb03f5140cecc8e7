// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/any/parse.hpp"

// What the parsers make holds every compressor and every method there is: it is compiled once, in named_compressors.cpp
// and named_methods.cpp, for race and for the tests; for float in tests/laws/named_float.cpp.
namespace laconic::detail {
extern template any_compressor<float, host> make_compressor(std::string_view, grammar::pipe const&);
extern template any_compressor<double, host> make_compressor(std::string_view, grammar::pipe const&);
}  // namespace laconic::detail
