// SPDX-License-Identifier: Apache-2.0
// The parser on the reference backend, which defines the messages that all tests are held against.
#include "support/laws/definitions.hpp"

namespace laconic::grammar {

template any_compressor<double, reference> make(std::string_view, pipe const&);
template any_compressor<float, reference> make(std::string_view, pipe const&);

}  // namespace laconic::grammar
