// SPDX-License-Identifier: Apache-2.0
#include "named.hpp"

namespace laconic::grammar {
template std::vector<entry<any_compressor<float, host>>> const& entries();
template any_compressor<float, host> make(std::string_view, pipe const&);
}  // namespace laconic::grammar
