// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "data.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/term.hpp"
#include "options.hpp"
#include "table.hpp"

namespace laconic::bench {

/// Open MPI's for MPI_Allreduce, by its own numbers.
inline constexpr char const* algorithms[] = {
    "as it chooses", "linear", "reduce and broadcast", "recursive doubling", "ring", "segmented ring", "Rabenseifner"};

/// What the program over MPI is asked for, too.
struct mpi_options : options {
    double density = 0.001;
    std::vector<int> algorithms = {0, 3, 4, 5, 6};

    void parse(CLI::App& app) {
        options::parse(app);
        app.add_option("--density", density, "the part of the numbers that top-k takes")->capture_default_str();
        app.add_option("--algorithms", algorithms, "Open MPI's for MPI_Allreduce, by its numbers; 0 is as it chooses")
            ->capture_default_str();
    }
    void check() const {
        options::check();
        portion{density}.check(d());
        for (int const a : algorithms)
            if (a < 0 || a >= static_cast<int>(std::size(bench::algorithms)))
                throw argument_error(
                    fmt::format("--algorithms: Open MPI has 0 to {}", std::size(bench::algorithms) - 1));
    }
};

/// Of all ranks.
inline double largest(double mine) {
    double all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}
inline bool on_all(bool mine) { return largest(mine ? 0 : 1) == 0; }

/// Seconds that the slowest rank needs for what(round), again and again; before() is not timed, nor are the first three
/// rounds, whose memory is new.
template <class Before, class What>
times time(options const& o, Before before, What what) {
    std::vector<double> seconds;
    for (std::uint64_t round = 0; !o.measured(seconds); ++round) {
        before();
        MPI_Barrier(MPI_COMM_WORLD);
        double const start = MPI_Wtime();
        what(round);
        double const slowest = largest(MPI_Wtime() - start);
        if (round >= 3) seconds.push_back(slowest);
    }
    return times_of(std::move(seconds));
}

/// The sum by MPI in the job's own way.
inline vec dense_sum(vec x) {
    MPI_Allreduce(MPI_IN_PLACE, x.data(), static_cast<int>(x.size()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    return x;
}

/// Sets a variable of Open MPI's, through MPI's own interface for tools; false where there is none. The algorithm it
/// reads when a communicator is made.
inline bool choose(char const* variable, int value) {
    int provided = 0, index = 0, count = 0;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return false;
    MPI_T_cvar_handle handle{};
    bool const done = MPI_T_cvar_get_index(variable, &index) == MPI_SUCCESS &&
                      MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) == MPI_SUCCESS &&
                      MPI_T_cvar_write(handle, &value) == MPI_SUCCESS;
    if (handle != MPI_T_cvar_handle{}) MPI_T_cvar_handle_free(&handle);
    MPI_T_finalize();
    return done;
}

}  // namespace laconic::bench
