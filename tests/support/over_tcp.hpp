// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "laconic/comm/tcp.hpp"

// Calls body(listener, rank, addresses) for each rank, on threads of their own with sockets of their own, and returns
// what it threw; "" where it did not.
template <class Body>
std::vector<std::string> at_listeners(int ranks, Body body) {
    std::vector<laconic::tcp::listener> listeners;
    std::vector<std::string> addresses, thrown(static_cast<std::size_t>(ranks));
    for (int r = 0; r < ranks; ++r) addresses.push_back(listeners.emplace_back("127.0.0.1:0").address());
    std::vector<std::thread> all;
    for (int r = 0; r < ranks; ++r)
        all.emplace_back([&, r] {
            try {
                body(listeners[static_cast<std::size_t>(r)], r, addresses);
            } catch (std::exception const& e) {
                thrown[static_cast<std::size_t>(r)] = e.what();
            }
        });
    for (auto& t : all) t.join();
    return thrown;
}
// body(comm) on each rank.
template <class Body>
std::vector<std::string> over_tcp(int ranks, Body body,
                                  laconic::tcp::settings how = {.deadline = std::chrono::seconds(60)}) {
    return at_listeners(ranks, [&](laconic::tcp::listener& own, int rank, std::vector<std::string> const& addresses) {
        laconic::tcp comm(own, rank, addresses, how);
        body(comm);
    });
}
