// SPDX-License-Identifier: Apache-2.0
// The parser on the reference backend, which defines the messages that all tests are held against.
#include "support/laws/definitions.hpp"

namespace laconic::detail {

template any_compressor<double, reference> make_compressor(std::string_view, grammar::pipe const&);
template any_compressor<float, reference> make_compressor(std::string_view, grammar::pipe const&);

}  // namespace laconic::detail
