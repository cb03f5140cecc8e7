// SPDX-License-Identifier: Apache-2.0
// The compressors and collectives of methods, which compute on the host, for doubles.
#include "named_methods.hpp"

#include "compressors_double.cpp"

namespace laconic::grammar {
template std::vector<entry<any_collective<double, compiled::backend>>> const& entries();
}
