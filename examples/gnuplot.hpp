// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace output {

/// What gnuplot prints for a script, into an open file. False where it is not installed; throws laconic::error where it
/// fails.
bool run_gnuplot(std::string_view script, int out);

}  // namespace output
