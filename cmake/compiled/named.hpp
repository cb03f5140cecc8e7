// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend.hpp"
#include "laconic/any/parse.hpp"

// What the parsers make holds every compressor, collective and method there is: it is compiled once, in the sources
// beside this, for the library laconic::compiled, and for this repository's own programs.
namespace laconic::grammar {
extern template std::vector<entry<any_compressor<float, compiled::backend>>> const& entries();
extern template std::vector<entry<any_compressor<double, compiled::backend>>> const& entries();
extern template any_compressor<float, compiled::backend> make(std::string_view, pipe const&);
extern template any_compressor<double, compiled::backend> make(std::string_view, pipe const&);
}  // namespace laconic::grammar
