// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "laconic/any/objective.hpp"
#include "laconic/comm/metered.hpp"
#include "laconic/comm/threads.hpp"
#include "laconic/parse.hpp"
#include "laconic/run.hpp"

/// What parse.hpp declares, and descend() of an any_method, for programs that link laconic::compiled, in which they are
/// compiled: such a program includes this in place of parse.hpp, and compiles in a tenth of the time or less. On the
/// host, for float and double; descend() for double, an any_objective<>, a std::vector and ranks as threads, metered or
/// not.
///
///     find_package(laconic REQUIRED COMPONENTS compiled)
///     target_link_libraries(yours PRIVATE laconic::compiled)
namespace laconic::detail {

extern template any_compressor<float, host> make_compressor(std::string_view, grammar::pipe const&);
extern template any_compressor<double, host> make_compressor(std::string_view, grammar::pipe const&);
extern template std::vector<named_collective<float, host>> const& named_collectives();
extern template std::vector<named_collective<double, host>> const& named_collectives();
extern template std::vector<named_reduction<float, host>> const& named_reductions();
extern template std::vector<named_reduction<double, host>> const& named_reductions();
extern template std::vector<named_method<float>> const& named_methods();
extern template std::vector<named_method<double>> const& named_methods();

extern template run_result run_recursion(any_recursion<double>, any_objective<double> const&, std::vector<double>&,
                                         threads::member&, run_settings, no_watch);
extern template run_result run_recursion(any_recursion<double>, any_objective<double> const&, std::vector<double>&,
                                         metered<threads::member>&, run_settings, no_watch);

}  // namespace laconic::detail
