// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "line.hpp"

namespace convergence {

/// One row a line, and what broke.
std::string table(std::vector<line> const& lines);

/// Draws the lines of a family into FOLDER/FAMILY.svg with gnuplot, each function over its start: beside exact
/// expectations in one panel, beside bounds in another. Returns false where gnuplot is not installed.
bool draw(std::string const& folder, family const& of, std::vector<line> const& lines);

}  // namespace convergence
