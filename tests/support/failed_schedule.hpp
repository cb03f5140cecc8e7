// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/core/error.hpp"

/// The error that a rank caught.
struct caught_error {
    int rank = -7;
    std::string why;
};

template <class C>
caught_error error_of_all_gather(C& comm) {
    try {
        comm.all_gather({});
    } catch (laconic::comm_error const& e) {
        return {e.rank, e.what()};
    }
    return {};
}

/// The error that ended each rank's part of a schedule over threads or fibers, and what run threw.
template <class Engine>
struct failed_schedule_over {
    std::vector<caught_error> errors;
    std::string thrown;

    template <class Body>
    failed_schedule_over(int ranks, Body body, typename Engine::settings how = {})
        : errors(static_cast<std::size_t>(ranks)) {
        auto const watched = [&](typename Engine::member& comm) {
            try {
                body(comm);
            } catch (laconic::comm_error const& e) {
                errors[static_cast<std::size_t>(comm.rank())] = {e.rank, e.what()};
                throw;
            }
        };
        try {
            Engine::run(ranks, watched, how);
        } catch (std::exception const& e) {
            thrown = e.what();
        }
    }
};
