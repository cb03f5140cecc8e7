// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "laconic/comm/replay.hpp"

namespace deep {

/// The networks that a run is timed on.
struct named_network {
    char const* name;
    laconic::network network;
};
inline constexpr std::array<named_network, 4> networks{{{"10 Mbit/s", {20e-6, 1e-7}},
                                                        {"100 Mbit/s", {20e-6, 1e-8}},
                                                        {"1 Gbit/s", {20e-6, 1e-9}},
                                                        {"10 Gbit/s", {20e-6, 1e-10}}}};

/// What a worker records of a run: its messages, and how many of them came before each round.
struct course {
    std::vector<laconic::log_entry> messages;
    std::vector<std::size_t> before_round;
};

/// The processor time of this process or, with CLOCK_THREAD_CPUTIME_ID, thread, in seconds: what else runs on the
/// machine does not count.
inline double processor_seconds(clockid_t of = CLOCK_PROCESS_CPUTIME_ID) {
    timespec t{};
    clock_gettime(of, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// The seconds until so many rounds are over, on this network: in each, all workers compute for `computing` seconds,
/// and then their messages travel.
inline double seconds_of(std::size_t rounds, double computing, laconic::network const& on,
                         std::span<course const> workers) {
    std::vector<std::vector<laconic::log_entry>> logs(workers.size());
    for (std::size_t i = 0; i < workers.size(); ++i)
        for (std::size_t round = 0; round < rounds; ++round) {
            auto const first = workers[i].messages.begin();
            auto const at = [&](std::size_t r) {
                return first + static_cast<std::ptrdiff_t>(workers[i].before_round[r]);
            };
            logs[i].push_back({.seconds = computing});
            logs[i].insert(logs[i].end(), at(round), at(round + 1));
        }
    auto const ends = laconic::replay({on}, logs);
    return *std::max_element(ends.begin(), ends.end());
}

}  // namespace deep
