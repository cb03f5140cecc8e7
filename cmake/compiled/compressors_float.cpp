// SPDX-License-Identifier: Apache-2.0
#include "named.hpp"

namespace laconic::grammar {
template std::vector<entry<any_compressor<float, compiled::backend>>> const& entries();
template any_compressor<float, compiled::backend> make(std::string_view, pipe const&);
}  // namespace laconic::grammar
