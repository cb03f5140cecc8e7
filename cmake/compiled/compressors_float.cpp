// SPDX-License-Identifier: Apache-2.0
// The parser of compressors of float, compiled once for the tests; the examples compile that of double.
#include "named.hpp"

template laconic::any_compressor<float, laconic::host> laconic::detail::make_compressor(std::string_view,
                                                                                        grammar::pipe const&);
