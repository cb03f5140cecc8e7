// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/any/parse.hpp"

// What the parsers make holds every compressor, collective and method there is: it is compiled once, in the sources
// beside this, for the library laconic::compiled, and for this repository's own programs.
namespace laconic::detail {
extern template std::vector<named_compressor<float, host>> const& named_compressors();
extern template std::vector<named_compressor<double, host>> const& named_compressors();
extern template any_compressor<float, host> make_compressor(std::string_view, grammar::pipe const&);
extern template any_compressor<double, host> make_compressor(std::string_view, grammar::pipe const&);
}  // namespace laconic::detail
