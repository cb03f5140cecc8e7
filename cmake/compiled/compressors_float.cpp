// SPDX-License-Identifier: Apache-2.0
#include "laconic/compiled.hpp"

namespace laconic::detail {

template any_compressor<float, host> make_compressor(std::string_view, grammar::pipe const&);

}  // namespace laconic::detail
