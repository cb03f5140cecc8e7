// SPDX-License-Identifier: Apache-2.0
#include "named.hpp"

namespace laconic::detail {
template std::vector<named_compressor<float, host>> const& named_compressors();
template any_compressor<float, host> make_compressor(std::string_view, grammar::pipe const&);
}  // namespace laconic::detail
