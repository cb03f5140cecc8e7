// SPDX-License-Identifier: Apache-2.0
#include "laconic/compiled.hpp"

namespace laconic::detail {

template run_result run_recursion(any_recursion<double>, any_objective<double> const&, std::vector<double>&,
                                  threads::member&, run_settings, no_watch);
template run_result run_recursion(any_recursion<double>, any_objective<double> const&, std::vector<double>&,
                                  metered<threads::member>&, run_settings, no_watch);

}  // namespace laconic::detail
