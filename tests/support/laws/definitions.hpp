// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/any/parse.hpp"
#include "laconic/backend/reference.hpp"

// The parser on the reference backend, compiled once, in definitions.cpp.
namespace laconic::grammar {

extern template any_compressor<double, reference> make(std::string_view, pipe const&);
extern template any_compressor<float, reference> make(std::string_view, pipe const&);

}  // namespace laconic::grammar
