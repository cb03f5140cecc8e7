// SPDX-License-Identifier: Apache-2.0
#include "named.hpp"

namespace laconic::detail {
template std::vector<named_compressor<double, host>> const& named_compressors();
template any_compressor<double, host> make_compressor(std::string_view, grammar::pipe const&);
}  // namespace laconic::detail
