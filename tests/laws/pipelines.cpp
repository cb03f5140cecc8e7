// SPDX-License-Identifier: Apache-2.0
#include "laws/pipelines.hpp"

namespace laconic::detail {
template any_compressor<float, host> make_compressor(std::string_view, spelling::pipe const&);
template any_compressor<double, host> make_compressor(std::string_view, spelling::pipe const&);
}  // namespace laconic::detail
