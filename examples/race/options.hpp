// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "laconic/any/communicator.hpp"
#include "laconic/core/error.hpp"
#include "run.hpp"

namespace race {

/// What the command line asks for.
struct options {
    std::string data = "fashion-mnist", objective = "logistic", cost = "bits", network = "threads", json, csv, plot;
    bool list = false, scale = false;
    double lambda = 0.1;
    int workers = 10, at_once = 0;
    bool workers_given = false;
    std::vector<std::string> methods = {"gd",
                                        "dcgd(bf16(random=yes))",
                                        "qsgd(levels=4)",
                                        "ef_sgd(top_k(0.1), step=1/L)",
                                        "diana(rand_k(0.1))",
                                        "diana(rand_k(0.1) | natural)",
                                        "ef21(top_k(0.05), step=1/L)",
                                        "gd_sec(xi=100, beta=0.01)"};
    std::uint64_t data_limit = 0, first_index = 1;
    settings run{2500, 0, 1e-6, 0, 0, {}, {}, {}, nullptr};
    bool quiet = false;
};

/// Wrong input: one line, and exit status 2.
struct usage_error : laconic::error {
    using error::error;
};

/// Of a job's ranks one prints and writes.
inline bool reports(laconic::any_communicator const* job) { return !job || job->rank() == 0; }

/// Declares all options.
void declare(CLI::App& app, options& o);
/// Completes what was asked for; usage_error for what cannot run. Output files are tried before anything runs, so that
/// nothing is lost at the end.
void check(options& o, laconic::any_communicator* job);

}  // namespace race
