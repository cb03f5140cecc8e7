// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/core/clock.hpp"
#include "laconic/core/fitted_cost.hpp"

namespace laconic {

/// The messages that measure_cost sends: of `least` bytes, 4 least, 16 least, ... up to `most`, each so many times.
struct cost_measurement {
    std::size_t least = 8, most = std::size_t{1} << 20;
    int repetitions = 5;

    /// Throws argument_error where there are fewer than two sizes or no repetition.
    void check() const {
        if (least < 1 || most / 4 < least)
            throw argument_error(
                {"messages of ", least, " to ", most, " bytes: two sizes take 1 or more, and 4 times as many"});
        if (repetitions < 1) throw argument_error({repetitions, " repetitions: at least one is needed"});
    }
    std::vector<std::size_t> sizes() const {
        std::vector<std::size_t> all;
        for (std::size_t n = least;; n *= 4) {
            all.push_back(n);
            if (n > most / 4) return all;
        }
    }
};

namespace detail {

// The seconds that this rank is in an all-gather of messages of each size, repetition after repetition.
template <Communicator C, Clock Now>
std::vector<double> time_messages(C& comm, cost_measurement const& how, Now& clock) {
    auto const sizes = how.sizes();
    std::vector<std::byte> bytes(sizes.back());
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(167 * i + (i >> 8));
    std::vector<double> seconds;
    seconds.reserve(sizes.size() * static_cast<std::size_t>(how.repetitions));
    comm.all_gather({bytes});  // so that the engine has its memory
    for (int k = 0; k < how.repetitions; ++k)
        for (auto const n : sizes) {
            comm.all_gather({});  // all begin together
            double const start = clock();
            comm.all_gather({std::span<std::byte const>(bytes).first(n)});
            seconds.push_back(clock() - start);
        }
    return seconds;
}

}  // namespace detail

/// Measures what a message costs in seconds when each rank sends one of its size to all, per_bit x bits + per_message:
/// the fit to all-gathers of messages of several sizes, each timed as its slowest rank in the quickest repetition.
/// Every rank calls it with the same `how`, while nothing else runs, and all get the same numbers, bit for bit. It
/// makes 4 + 2 x sizes x repetitions collective calls; through metered their bytes count, through its inner() they do
/// not. Throws argument_error where `how` is invalid or the clock stands still, agreement_error where ranks do not
/// measure alike, comm_error where one does something else.
template <Communicator C, Clock Now = monotonic_clock>
message_cost measure_cost(C& comm, cost_measurement const& how = {}, Now clock = {}) {
    how.check();
    std::array<std::uint64_t, 3> const mine{how.least, how.most, static_cast<std::uint64_t>(how.repetitions)};
    detail::from_all(comm, mine, "how it measures", [&](int r, auto const& theirs) {
        if (theirs != mine) throw agreement_error(r, "ranks disagree on how to measure the cost of messages");
    });
    auto slowest = detail::time_messages(comm, how, clock);
    std::vector<double> theirs(slowest.size());
    comm.all_gather({std::as_bytes(std::span(slowest))});
    for (int r = 0; r < comm.size(); ++r) {
        std::span<double> const all(theirs);
        std::memcpy(all.data(), detail::bytes_from(comm, r, all.size_bytes(), "its times").data(), all.size_bytes());
        for (std::size_t i = 0; i < theirs.size(); ++i) slowest[i] = std::max(slowest[i], theirs[i]);
    }
    auto const sizes = how.sizes();
    std::vector<timing> least;
    for (std::size_t i = 0; i < slowest.size(); ++i) {
        if (i < sizes.size())
            least.push_back({8.0 * static_cast<double>(sizes[i]), slowest[i]});
        else
            least[i % sizes.size()].seconds = std::min(least[i % sizes.size()].seconds, slowest[i]);
    }

    // All ranks fit the same times and throw alike; if they are compiled differently the last bit could differ.
    auto const fitted = fit_cost(least);
    std::array<double, 2> numbers{fitted.per_bit, fitted.per_message};
    comm.broadcast(0, {std::as_bytes(std::span(numbers))});
    numbers = detail::value_from<std::array<double, 2>>(comm, 0, "the cost");
    return affine_cost(numbers[0], numbers[1]);
}

/// The cost of a message from one rank to one other, for an all-gather among so many ranks that consists of such
/// messages one after another. Throws argument_error for fewer than two ranks.
inline message_cost between_two(message_cost const& all_gather, int ranks) {
    if (ranks < 2) throw argument_error({ranks, " ranks: between two there are two or more"});
    message_cost one = all_gather;
    for (double* const price : {&one.per_bit, &one.per_packet, &one.per_message}) *price /= ranks - 1;
    return one;
}

}  // namespace laconic
