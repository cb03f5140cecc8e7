// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace output {

/// The text in gnuplot's quotes.
std::string quoted(std::string const& text);
/// Writes what gnuplot prints for a script to the file. Returns false where gnuplot is not installed; throws
/// laconic::error where it fails, and lost where the file cannot be written. Then the file is as it was.
bool run_gnuplot(std::string_view script, std::string const& file);

/// A line through points (x, y), and its name.
struct curve {
    std::string name;
    std::vector<std::pair<double, double>> points{};
};
/// Curves on the same axes.
struct chart {
    std::string title, x, y;  ///< the chart's, and those of its axes
    std::vector<curve> curves{};
    bool logarithmic = true;  ///< both axes; points that have no place there are left out
    double least_y = 0;       ///< where the y axis begins on logarithmic axes; 0: where the points do
};

/// Whether draw() knows the file's ending.
bool can_draw(std::string const& file);
/// Draws charts, at least one, side by side with gnuplot, in the format of the file's ending: svg, png or pdf. A curve
/// without points is in the key only. Returns and throws as run_gnuplot().
bool draw(std::string const& file, std::vector<chart> const& charts);

}  // namespace output
