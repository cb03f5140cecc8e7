// SPDX-License-Identifier: Apache-2.0
// All methods for float, which consumer.sh compiles; the tests run those for double.
#include <laconic/parse_method.hpp>

namespace laconic::detail {
template std::vector<named_method<float>> const& named_methods();
}  // namespace laconic::detail

// What a method of the list does when it is used: it composes, with a step.
double step_of(std::string_view text, laconic::problem const& p) {
    return laconic::parse_method<float>(text).compose<float, laconic::host>(p).step.rate();
}
