// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include "laconic/core/error.hpp"

namespace laconic::bench {

/// What the programs over MPI and over UDP are both asked for.
struct options {
    double dimension = 25e6, link = 0, seconds = 3;
    std::vector<double> zeros = {0.99, 0.6};
    std::size_t block = 256;
    std::vector<std::string> only{};

    std::size_t d() const { return static_cast<std::size_t>(dimension); }
    bool wants(std::string const& name) const {
        return only.empty() ||
               std::any_of(only.begin(), only.end(), [&](auto const& o) { return name.compare(0, o.size(), o) == 0; });
    }

    /// bench/cluster says how fast its links are.
    void parse(CLI::App& app) {
        if (char const* const rate = std::getenv("LACONIC_LINK")) link = std::atof(rate);
        app.add_option("--dimension", dimension, "how many float32 a rank's vector has")->capture_default_str();
        app.add_option("--zeros", zeros, "the parts of blocks that are zero, for the collectives of blocks")
            ->expected(0, 8)
            ->capture_default_str();
        app.add_option("--block", block, "how many numbers a block has")->capture_default_str();
        app.add_option("--seconds", seconds, "how long each is measured, and three times at least")
            ->capture_default_str();
        app.add_option("--link", link, "what each rank's link carries in either direction, in bits a second");
        app.add_option("--only", only,
                       "only what begins with one of these names (and MPI_Allreduce of the dense vector)");
    }
    /// Throws argument_error.
    void check() const {
        if (!(dimension >= 1 && dimension <= 1e9 && dimension == std::floor(dimension)))
            throw argument_error(fmt::format("--dimension: {} is no whole number from 1 to 1e9", dimension));
        for (double const z : zeros)
            if (!(z >= 0 && z <= 1)) throw argument_error(fmt::format("--zeros: {} is not between 0 and 1", z));
        if (block < 1) throw argument_error("--block: a block has at least one number");
        if (!(seconds >= 0)) throw argument_error(fmt::format("--seconds: {} is not at least 0", seconds));
        if (!(link >= 0)) throw argument_error(fmt::format("--link: {} bits a second", link));
    }
    /// Whether seconds measured so far do; 200 do in any case.
    bool measured(std::vector<double> const& so_far) const {
        double sum = 0;
        for (double const s : so_far) sum += s;
        return so_far.size() >= 3 && (sum >= seconds || so_far.size() >= 200);
    }
};

}  // namespace laconic::bench
