// SPDX-License-Identifier: Apache-2.0
#include "named.hpp"

template laconic::any_compressor<double, laconic::host> laconic::detail::make_compressor(std::string_view,
                                                                                         grammar::pipe const&);
