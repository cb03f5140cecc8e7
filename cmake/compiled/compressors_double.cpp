// SPDX-License-Identifier: Apache-2.0
#include "named.hpp"

namespace laconic::grammar {
template std::vector<entry<any_compressor<double, compiled::backend>>> const& entries();
template any_compressor<double, compiled::backend> make(std::string_view, pipe const&);
}  // namespace laconic::grammar
