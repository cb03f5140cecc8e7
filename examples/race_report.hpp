// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "laconic/objective/problem.hpp"
#include "race_run.hpp"

namespace race {

/// What was raced on, for the reports.
struct setting {
    std::string data, objective;
    bool scaled = false;  ///< its features, to [-1, 1]
    double lambda = 0, f_star = 0, target = 0;
    std::size_t samples = 0;
    laconic::problem constants;
    std::string measure;  ///< what is brought to the target: f - f*, F - F* or |grad f|^2
    laconic::two_way_cost cost{};
    std::string network;
    bool is_delayed = false;  ///< there are seconds of the network to report
    std::string collective;   ///< empty: each method's own

    bool costs_more_than_bits() const { return !(cost == laconic::two_way_cost{}); }
};

/// The text as UTF-8 of one line: a '?' stands for each byte that is none and for each control character. For
/// terminals, and for gnuplot, where a new line would be a command.
std::string printable(std::string const& text);

/// The table for people.
std::string table(setting const& on, std::vector<result> const& results);
/// One row a method.
std::string csv(setting const& on, std::vector<result> const& results);
/// Everything, traces included. What is no UTF-8 of the data's name has the replacement character.
std::string json(setting const& on, std::vector<result> const& results);

/// Draws suboptimality against bits, the cost or the seconds on the network with gnuplot, in the format of the file's
/// ending: svg, png or pdf. A method without a mark above 0, which has no place on logarithmic axes, is in the key
/// only. Returns false where gnuplot is not installed; throws laconic::error where it fails, and leaves the file as it
/// was.
bool plot(std::string const& file, setting const& on, std::vector<result> const& results);
/// Whether plot() knows the file's ending.
bool can_plot(std::string const& file);

}  // namespace race
