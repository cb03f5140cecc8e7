// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "laconic/wire/stream.hpp"

namespace laconic {

/// A run's progress before the messages of `round` are sent, the same on all ranks.
struct trace_point {
    std::uint64_t round = 0;
    double value = 0;                   ///< f(x) = mean f_i(x)
    double bits_up = 0, bits_down = 0;  ///< sent and received by a worker so far: the mean over the workers
    double seconds = 0;                 ///< by rank 0's clock
};

/// Why a run ended: a limit was reached, or the watch returned false.
enum class stop_reason { rounds, bits, target, time, watch };

/// The name of the reason.
constexpr char const* to_string(stop_reason s) {
    constexpr char const* names[] = {"rounds", "bits", "target", "time", "watch"};
    return names[static_cast<int>(s)];
}

/// When to stop, and the seed. Any limit except `rounds`, and a trace, costs every `check_every` rounds one evaluation
/// of f and a collective call of 32 bytes a rank, which a metered communicator does not count.
struct run_settings {
    std::uint64_t rounds = 1000;
    /// The seed of all that is drawn. Where none is given, it is that of `resume_from` or, without that, one that rank
    /// 0 draws for all: run_result has it. Give one for a run that can be repeated bit for bit.
    std::optional<std::uint64_t> seed{};
    position_code positions = position_code::smallest;         ///< short messages, or messages that are fast to read
    double bits = std::numeric_limits<double>::infinity();     ///< sent by a worker, the mean over the workers
    double target = -std::numeric_limits<double>::infinity();  ///< stop where f(x) is at most this
    double seconds = std::numeric_limits<double>::infinity();  ///< by rank 0's clock
    std::uint64_t check_every = 1;
    std::vector<trace_point>* trace = nullptr;    ///< trace points are appended here, on every rank
    std::span<std::byte const> resume_from = {};  ///< from descent::save on this rank; bits and seconds start at 0
};

/// How a run ended: after how many rounds in all, and why; and the seed of all that it drew, on all ranks.
struct run_result {
    std::uint64_t rounds = 0;
    stop_reason why = stop_reason::rounds;
    std::uint64_t seed = 0;
};

}  // namespace laconic
