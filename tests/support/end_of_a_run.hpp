// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "laconic/comm/metered.hpp"
#include "laconic/run.hpp"

/// A short run, to compare engines by.
namespace short_run {

struct bowl {
    double c;
    std::size_t dimension() const { return 50; }
    double value(std::span<double const> x) const {
        double sum = 0;
        for (double const v : x) sum += (v - c) * (v - c);
        return sum;
    }
    void gradient(std::span<double const> x, std::span<double> g) const {
        for (std::size_t i = 0; i < x.size(); ++i) g[i] = x[i] * double(1 + i % 3) - c;
    }
    double smoothness() const { return 3; }
    double strong_convexity() const { return 1; }
};

// Where a rank ends, and what it sent and received.
template <class C, class M>
std::vector<double> end_of_a_run(C& comm, M const& method) {
    std::vector<double> x(50);
    laconic::metered counted(comm);
    laconic::descend(method, bowl{1.0 * comm.rank()}, x, counted, {.rounds = 60, .seed = 3});
    x.push_back(static_cast<double>(counted.bytes_sent()));
    x.push_back(static_cast<double>(counted.bytes_received()));
    return x;
}

}  // namespace short_run
