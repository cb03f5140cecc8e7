// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "laconic/objective/objective.hpp"
#include "run.hpp"

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

/// The table for people.
std::string table(setting const& on, std::vector<result> const& results);
/// One row a method.
std::string csv(setting const& on, std::vector<result> const& results);
/// Everything, traces included. What is no UTF-8 of the data's name has the replacement character.
std::string json(setting const& on, std::vector<result> const& results);

/// Draws suboptimality against bits, the cost or the seconds on the network, as output::draw() does.
bool plot(std::string const& file, setting const& on, std::vector<result> const& results);

}  // namespace race
