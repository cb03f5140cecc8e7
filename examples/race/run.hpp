// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "laconic/any/communicator.hpp"
#include "laconic/core/cost.hpp"
#include "laconic/core/listed.hpp"
#include "network.hpp"
#include "problem.hpp"

namespace race {

/// One line of a run: before `round`, each worker had sent `bits_up` bits, at that cost with what it was handed (means
/// over workers), and the last worker's clock stood at `clock` seconds of a delayed network.
struct mark {
    std::uint64_t round;
    double bits_up, suboptimality, cost, clock;
};

/// How one method did.
struct result {
    std::string method;
    double step = 0;
    std::uint64_t rounds = 0;
    double bits_up = 0, bits_down = 0;  // per worker: sent, and received from others or the server
    double cost = 0;                    // of what a worker sent and was handed
    double clock = 0;                   // seconds of a delayed network
    double suboptimality = 0, gradient_norm = 0;
    bool diverged = false;
    std::string failure{};        // why a method with a loop of its own could not make its first round
    bool interrupted = false;     // a signal ended it before its time
    std::optional<mark> reached;  // the first mark at or below the target
    double seconds = 0;
    std::vector<mark> trace;
};

struct settings {
    std::uint64_t rounds = 0, seed = 0;
    double target = 0;
    double seconds = 0;  // of the clock, a method; 0: no limit
    int at_once = 0;
    laconic::two_way_cost cost{};  // of a message
    std::string collective{};      // empty: each method's own
    network on{};
    laconic::any_communicator* job = nullptr;  // this rank's end of an MPI job, where the workers are its ranks
};

/// The method with `cost` for every cat and best_level in it that has none of its own. Throws laconic::parse_error.
std::string priced(std::string const& method, laconic::two_way_cost const& cost);
/// The method, or the collective, as the library writes it. Throws laconic::parse_error where it cannot be read.
std::string text_of(std::string const& method);
std::string text_of_collective(std::string const& collective);
/// Throws laconic::error where the method does not suit the problem, or the collective the method.
void check(std::string const& method, contest const& on, std::string const& collective);
/// Each method, compressor and collective, with its parameters, what it does and its reference.
std::vector<laconic::listed_value> list_of_methods();
std::vector<laconic::listed_value> list_of_compressors();
std::vector<laconic::listed_value> list_of_collectives();
std::vector<laconic::listed_value> list_of_reductions();
std::vector<laconic::listed_value> list_of_steps();

/// Called now and then while a method runs, for rank 0.
using progress = std::function<void(mark const&)>;

/// It ends early where a signal asks it to (stop.hpp): at the next mark, on all ranks at the same one. In a job
/// every rank calls it, and only rank 0 gets more than the method, its step, and whether it was interrupted.
result run(std::string const& method, contest const& on, settings const& how, progress const& show);

}  // namespace race
