// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/any/parse.hpp"
#include "laconic/backend/reference.hpp"

// The parser on the reference backend, compiled once, in definitions.cpp.
namespace laconic::detail {

extern template any_compressor<double, reference> make_compressor(std::string_view, grammar::pipe const&);
extern template any_compressor<float, reference> make_compressor(std::string_view, grammar::pipe const&);

}  // namespace laconic::detail
