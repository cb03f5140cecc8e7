// SPDX-License-Identifier: Apache-2.0
#include "laconic/compiled.hpp"
#include "laconic/run.hpp"
#include "named_methods.hpp"

namespace laconic::compiled {

run_result descend(std::string_view method, any_objective<> const& objective, std::span<double> x,
                   any_communicator comm, run_settings how) {
    return laconic::descend(parse_method(method), objective, x, comm, how);
}

std::vector<listed_value> list_methods() { return laconic::list_methods(); }

}  // namespace laconic::compiled
